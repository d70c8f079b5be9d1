-- concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS queue_by_question ON queue (question_id) WHERE question_id IS NOT NULL

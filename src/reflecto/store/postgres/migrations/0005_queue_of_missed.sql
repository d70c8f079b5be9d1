-- concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS queue_of_missed ON queue (device_id, push_until) WHERE question_id IS NOT NULL

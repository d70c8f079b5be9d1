"""Questions that this process asked for an agent, so that an answer is checked against what was asked, not told."""

from typing import Final

from reflecto.client.results import Question

QUESTIONS_MAX: Final = 64  # ten wait at a time; the oldest go first


class AskedHere:
    """The newest questions of one agent."""

    def __init__(self) -> None:
        self._questions: dict[str, Question] = {}

    def keep(self, question: Question) -> None:
        """Remember a question that the server has stored."""
        self._questions.pop(question.id, None)
        self._questions[question.id] = question
        for oldest in list(self._questions)[:-QUESTIONS_MAX]:
            del self._questions[oldest]

    def find(self, question_id: str) -> Question | str:
        """Return the question, or its id where another process asked it."""
        return self._questions.get(question_id, question_id)

"""The models: a team that behaves, whose executors take `seconds` over each step."""

from __future__ import annotations

from tests.fakes.anthropic_answers import Answer, Request, Say, Slow
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

STEPS = 4


class Models(FakeAnthropic):
    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        names = [f"s{number}" for number in range(STEPS)]
        chain = [step(name, *names[:number][-1:]) for number, name in enumerate(names)]
        self._team = Team(plan=plan(*chain), executor=self._executed)
        self.script(self._answer)

    def _answer(self, request: Request) -> Answer:
        self._team.seen.clear()  # it would keep every conversation
        self.requests.clear()
        return self._team(request)

    def _executed(self, _: Request, right: Answer) -> Answer:
        return Slow(self.seconds, right) if self.seconds and isinstance(right, Say) else right

"""The pytest fixture `evenflow_doctor`: examines a test, which can then fail if something was found.

    def test_step(evenflow_doctor):
        train(steps=200)
        evenflow_doctor.check()             # fails with the report if anything was found
        evenflow_doctor.check("E1xx,E202")  # or only for these codes

The fixture is available wherever Evenflow is installed, because it is an entry point of pytest.
"""
import pytest


class Examination:
    """The findings of the doctor in a test: `findings`, `codes`, `report`; `check` fails the test."""

    def __init__(self):
        from evenflow._src.doctor import session  # imported only for tests that use the fixture

        self._diagnosis, self._watch = session.begin()
        self._open = True

    def end(self):
        """Ends the examination. Later code of the test is not examined."""
        if self._open:
            self._open = False
            self._diagnosis.finish(self._watch)

    @property
    def findings(self):
        self.end()
        return self._diagnosis.findings

    @property
    def codes(self):
        return [f.code for f in self.findings]

    @property
    def report(self):
        from evenflow._src.doctor import report

        return "\n".join(report.line(f) for f in self.findings)

    def check(self, codes="Exxx"):
        """Fails the test if one of these codes was found: E1xx,E202. Ends the examination. Raises ValueError for a code that no cause
        has."""
        from evenflow._src.doctor import command

        if command.fails(self.findings, command.patterns(codes)):
            pytest.fail(f"evenflow doctor:\n{self.report}", pytrace=False)


@pytest.fixture
def evenflow_doctor():
    """Examines the test: what in it is slow, where, and what to write instead."""
    examination = Examination()
    yield examination
    examination.end()

"""The ledger against a model of it: any sequence of calls, on an SQLite file."""

from __future__ import annotations

import tempfile
from decimal import Decimal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dpcausal.core.errors import BudgetError, LedgerError
from dpcausal.privacy.ledger import Ledger

amounts = st.sampled_from(["0.1", "0.25", "0.3", "0.333333333333", "1.0"])
names = st.sampled_from(["a", "b"])
releases = st.sampled_from([f"r{index}" for index in range(8)])


class LedgerMachine(RuleBasedStateMachine):
    """Totals, and release -> (data set, cost), as plain dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{self.folder.name}/ledger.db"
        self.ledger = Ledger.open(self.url, create=True)
        self.totals: dict[str, Decimal] = {}
        self.charged: dict[str, tuple[str, Decimal]] = {}

    def spent(self, name: str) -> Decimal:
        return sum((cost for owner, cost in self.charged.values() if owner == name), Decimal(0))

    @rule(name=names, amount=amounts)
    def create(self, name: str, amount: str) -> None:
        try:
            self.ledger.create(name, float(amount))
            assert name not in self.totals
            self.totals[name] = Decimal(amount)
        except LedgerError:
            assert name in self.totals

    @rule(name=names, release=releases, amount=amounts)
    def charge(self, name: str, release: str, amount: str) -> None:
        cost, before = Decimal(amount), self.charged.get(release)
        try:
            entry = self.ledger.charge(name, release, float(amount))
            assert Decimal(entry.epsilon) == cost
            if before is None:
                assert self.spent(name) + cost <= self.totals[name]
                self.charged[release] = (name, cost)
            else:
                assert before == (name, cost)
        except BudgetError as error:
            left = error.left
            assert before is None
            assert self.spent(name) + cost > self.totals[name]
            assert left == float(self.totals[name] - self.spent(name))
        except LedgerError:
            assert name not in self.totals or (before is not None and before != (name, cost))

    @rule()
    def reopen(self) -> None:
        self.ledger = Ledger.open(self.url)

    @precondition(lambda self: self.totals)
    @rule()
    def show(self) -> None:
        shown = {account.dataset: account for account in self.ledger.show()}
        assert set(shown) == set(self.totals)
        for name, account in shown.items():
            assert account.spent_epsilon == float(self.spent(name))
            assert account.releases == sum(owner == name for owner, _ in self.charged.values())

    @invariant()
    def chain_holds(self) -> None:
        found = self.ledger.verify()
        assert found.ok
        assert found.entries == len(self.totals) + len(self.charged)

    def teardown(self) -> None:
        self.folder.cleanup()


LedgerMachine.TestCase.settings = settings(
    max_examples=10, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLedgerMachine = LedgerMachine.TestCase

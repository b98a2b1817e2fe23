"""Errors: what a program decides by is a field, and the message is made from it."""

from __future__ import annotations

import ast
import pickle
import pkgutil
import traceback
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

import algorithms
import dpaudit
import proofs_checks
from dpaudit.certificate.errors import NotAsCertified, Refused, TamperedCertificate, UnreadableCertificate
from dpaudit.channel import PathChanged
from dpaudit.claims import BudgetExceeded, Contradiction, DpauditError, InvalidValue, Leak, SensitivityError
from dpaudit.claims.errors import FileError, bare
from dpaudit.claims.exit_codes import UNPROVEN, UNUSABLE, VIOLATED, WORST_FIRST
from dpaudit.claims.rules import RULES
from dpaudit.cli import main
from dpaudit.commands import Answer, Command
from dpaudit.ledger import LedgerUnavailable, TamperedLedger, UnreadableLedger

ONE, TWO = Fraction(1), Fraction(2)
EXAMPLES = [
    (DpauditError("do that"), None, UNUSABLE),
    (InvalidValue("n", 0, "at least 1"), None, UNUSABLE),
    (BudgetExceeded("sum", (TWO, ONE), (ONE, ONE)), "DPA001", UNUSABLE),
    (Leak("print", "file.py:3"), "DPA002", UNUSABLE),
    (PathChanged(2), "DPA002", UNUSABLE),
    (SensitivityError("sum", ONE, TWO), "DPA003", UNUSABLE),
    (Contradiction(ONE, 2.0), None, UNUSABLE),
    (TamperedLedger("a.ledger", "cut"), "DPA007", VIOLATED),
    (UnreadableLedger("a.ledger", "no ledger"), None, UNUSABLE),
    (LedgerUnavailable("a.ledger", "full"), None, UNUSABLE),
    (TamperedCertificate("c.json", "changed"), "DPA007", VIOLATED),
    (UnreadableCertificate("c.json", "no certificate"), None, UNUSABLE),
    (NotAsCertified("c.json", "other code"), None, VIOLATED),
    (Refused("central", ["unproven"]), None, UNPROVEN),
    (Refused("central", ["refuted"], refuted=True), None, VIOLATED),
]


@pytest.mark.parametrize(("error", "rule", "code"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_an_error_carries_its_rule_its_detail_and_its_exit_code(error: DpauditError, rule: str | None, code: int) -> None:
    assert (error.rule, error.exit_code) == (rule, code)
    assert str(error) == (error.detail if rule is None else f"{rule}: {error.detail}")
    assert error.detail


@pytest.mark.parametrize("error", [error for error, _, _ in EXAMPLES], ids=lambda error: type(error).__name__)
def test_a_command_ends_with_the_exit_code_of_the_error_that_ends_it(
    error: DpauditError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_options: object) -> Answer:
        raise error

    monkeypatch.setattr("dpaudit.commands.start.explain.COMMANDS", (Command("explain", "for a test", fails),))
    assert main(["explain"]) == error.exit_code
    assert capsys.readouterr().err.startswith(f"dpaudit: {error}")


def _every_error(root: type[DpauditError] = DpauditError) -> Iterator[type[DpauditError]]:
    yield root
    for each in root.__subclasses__():
        yield from _every_error(each)


def test_every_error_names_a_known_rule_and_a_known_exit_code() -> None:
    for package in (dpaudit, algorithms):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    errors = set(_every_error())
    assert len(errors) > 20
    for each in errors:
        assert each.rule is None or each.rule in RULES
        assert each.exit_code in WORST_FIRST


def _reads_a_message(node: ast.AST) -> bool:
    """``str(error)[8:]``, ``… in str(error)``, ``str(error).startswith(…)``, ``… in finding.message``."""
    match node:
        case ast.Subscript(value=text) | ast.Compare(comparators=[text]):
            pass
        case ast.Attribute(value=text, attr="startswith" | "partition" | "removeprefix"):
            pass
        case _:
            return False
    match text:
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
            return "err" in name
        case ast.Attribute(attr="message"):
            return isinstance(node, ast.Compare)
    return False


@pytest.mark.parametrize(
    "line", ["str(error)[8:]", "'read-only' in str(error)", "str(error).startswith('x')", "a in finding.message"]
)
def test_a_message_that_is_read_by_code_is_noticed(line: str) -> None:
    assert any(map(_reads_a_message, ast.walk(ast.parse(line))))


@pytest.mark.parametrize("package", [dpaudit, algorithms, proofs_checks], ids=lambda package: package.__name__)
def test_no_code_slices_or_matches_a_message(package: object) -> None:
    files = [file for folder in package.__path__ for file in Path(folder).rglob("*.py")]  # type: ignore[attr-defined]
    assert files
    assert [file.name for file in files if any(map(_reads_a_message, ast.walk(ast.parse(file.read_text()))))] == []


def test_an_error_about_a_file_goes_from_one_process_to_another() -> None:
    """Where it could not be read again, a pool of processes would wait for ever."""
    again = pickle.loads(pickle.dumps(FileError("a.ledger", "gone")))
    assert (type(again), again.path, again.reason, str(again)) == (FileError, "a.ledger", "gone", "a.ledger: gone")


def test_a_budget_whose_delta_alone_is_used_up_says_how_to_share_it() -> None:
    small = Fraction(1, 10**6)
    used_up, too_much = (BudgetExceeded("sum", (cost, 2 * small), (TWO, small)) for cost in (ONE, 3 * ONE))
    assert "delta=" in str(used_up)
    assert "renyi(8,9e-7)" in str(used_up)
    assert "delta=" not in str(too_much)
    assert "delta=" not in str(BudgetExceeded("sum", (TWO, Fraction(0)), (ONE, Fraction(0))))


def test_a_long_fraction_is_shown_with_seven_digits_rounded_up() -> None:
    cost = Fraction(10**30 + 1, 3 * 10**30)
    said = BudgetExceeded("sum", (cost, Fraction(0)), (Fraction(1, 4), Fraction(0)))
    assert "ε=0.3333334," in str(said)
    assert said.would_cost[0] == cost


def test_a_bare_error_comes_without_what_led_to_it() -> None:
    """Its own frame stays, without what was handed in; the twin keeps it."""

    def fails(secret: int) -> None:
        try:
            raise KeyError(secret)
        except KeyError as before:
            raise ValueError("told") from before

    for function, kept in ((fails, True), (bare(fails), False)):
        with pytest.raises(ValueError, match="told") as caught:
            function(771917)
        inner = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]  # but for this test's own
        assert any("771917" in repr(frame.f_locals) for frame in inner) is kept
        assert (caught.value.__cause__ is not None) is kept

"""Sums of costs without rounding, and the one rule that says whether a sum still fits a total.

A cost is a float, read as the shortest decimal that prints it: ``0.1`` means one tenth, so ten charges of
0.1 fill a total of 1 exactly. Decimals are added without rounding (2,000 digits; every float needs fewer
than 800), hence a sum never depends on the order or number of charges.

**Rule.** A sum fits a total T when sum <= T (1 + 1e-12). The slack is for costs that a caller divided
(eleven times 1/11 is a little over 1 in decimals); no total is ever passed by more than that factor.
Reading a float as its decimal moves it by at most 2^-53 of itself, which lies far inside the same slack.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow

from dpcausal.core.errors import InputError

SLACK_FACTOR = Decimal("1.000000000001")
ZERO = Decimal(0)
_context = Context(prec=2000, traps=[Inexact, InvalidOperation, Overflow])


def exact(cost: float | str) -> Decimal:
    """The decimal that ``cost`` prints as; infinity stays infinity.

    >>> exact(0.1), exact("0.25")
    (Decimal('0.1'), Decimal('0.25'))
    """
    try:
        value = Decimal(cost if isinstance(cost, str) else repr(float(cost)))
    except InvalidOperation:
        raise InputError(f"a cost must be a number, not {cost!r}") from None
    if value.is_nan() or value < 0:
        raise InputError(f"a cost must be zero or more, not {cost!r}")
    return value


def add(left: Decimal, right: Decimal) -> Decimal:
    """The sum, exactly; an error rather than a rounded result.

    >>> total = ZERO
    >>> for _ in range(10):
    ...     total = add(total, exact(0.1))
    >>> total == 1
    True
    """
    return _context.add(left, right)


def fits(spent: Decimal, total: Decimal) -> bool:
    """Whether ``spent`` <= ``total`` (1 + 1e-12).

    >>> fits(exact(1.0), exact(1.0)), fits(exact(1.000001), exact(1.0))
    (True, False)
    """
    return spent <= _context.multiply(total, SLACK_FACTOR)


def left_of(spent: Decimal, total: Decimal) -> Decimal:
    """What remains of ``total``, never below zero.

    >>> left_of(exact(0.7), exact(1.0))
    Decimal('0.3')
    """
    return max(ZERO, _context.subtract(total, spent)) if spent.is_finite() else ZERO

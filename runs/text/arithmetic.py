"""Expressions of decimal numbers that models write, computed exactly and in limited time."""

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow
from decimal import localcontext as _using

from simpleeval import InvalidExpression, SimpleEval

from runs.errors import InvalidInput

MAX_CHARACTERS = 500  # of an expression
MAX_DECIMALS = 12
_DIGITS = 12
"""Significant digits of a result without a requested rounding."""
_GROUPED = re.compile(r"[0-9],[0-9]{3}(?![0-9])|[0-9]\.[0-9]{3},[0-9]")
"""May be a separator of thousands: `sum(1,234, 2,500)` is not about the numbers 1, 234, 2 and 500, and
`sum(1.234,50)` not about 1.234 and 50.
"""
_INSIDE, _BETWEEN = re.compile("[0-9],[0-9]"), re.compile(r"[0-9]\s*,\s+\S|\s,\s*\S")
"""Commas with and without a space. Where there are both, those without one may be decimal marks: `sum(1,5, 2,5)`."""
_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
_CONTEXT = Context(prec=34, rounding=ROUND_HALF_UP, Emax=60, Emin=-30, traps=_TRAPS)  # each value fits into a line
_OPERATORS: dict[type[ast.AST], Callable[..., Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def _average(*values: Decimal) -> Decimal:
    return sum(values, Decimal()) / len(values)


_FUNCTIONS: dict[str, Callable[..., Decimal]] = {
    "abs": abs,
    "average": _average,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "sqrt": Decimal.sqrt,
    "sum": lambda *values: sum(values, Decimal()),
}
FUNCTIONS = ", ".join(_FUNCTIONS)


@dataclass(frozen=True)
class Calculation:
    """What was computed. `shown`: the expression as people write it; `numbers`: those in it, without the divisor of an
    average, which only counts what is added; `exact`: whether `result` is all of it.
    """

    shown: str
    numbers: frozenset[Decimal]
    result: Decimal
    exact: bool

    @property
    def figure(self) -> str:
        """The result with separators of thousands."""
        return f"{self.result:,f}"


def calculated(expression: str, decimals: int | None = None) -> Calculation:
    """The value of an expression, rounded half up to so many `decimals`, else to twelve significant digits.

    Raises InvalidInput with a sentence for what is no such expression, or has no value that could be written down.
    """
    if len(expression) > MAX_CHARACTERS:
        raise InvalidInput(f"The expression has more than {MAX_CHARACTERS} characters; compute it in parts.")
    try:
        if _GROUPED.search(expression) or (_INSIDE.search(expression) and _BETWEEN.search(expression)):
            raise InvalidExpression("A comma may be a part of a number.")
        tree = ast.parse(expression.strip(), mode="eval").body
        literals = _Literals(expression.strip(), tree)
        with _using(_CONTEXT):
            evaluator = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names={})
            kinds = (ast.BinOp, ast.UnaryOp, ast.Call)
            evaluator.nodes = {kind: evaluator.nodes[kind] for kind in kinds} | {ast.Constant: literals.number}
            value = evaluator.eval(expression, tree)
            result = _rounded_value(value, decimals)
            return Calculation(literals.shown(tree), frozenset(literals.numbers), result, result == value)
    except DivisionByZero as error:
        raise InvalidInput("It divides by zero.") from error
    except DecimalException as error:
        raise InvalidInput("It has no value that could be written down: check roots, powers and divisors.") from error
    except (InvalidExpression, SyntaxError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise InvalidInput(
            "This is no expression of numbers. Use + - * / ** and brackets, and the functions "
            f"{FUNCTIONS}; write numbers without separators of thousands, as in 5450000 / 720.2, and a "
            "space behind each comma, as in sum(1500, 250)."
        ) from error


def _rounded_value(value: Decimal, decimals: int | None) -> Decimal:
    """The value with so many decimals, or with a fixed number of digits if it never ends."""
    if decimals is not None:
        return value.quantize(Decimal(1).scaleb(-decimals))
    return value.normalize(Context(prec=_DIGITS, rounding=ROUND_HALF_UP))


def _is_average(node: ast.BinOp) -> bool:
    """Whether a sum is divided by the number of its terms, as in (3 + 4 + 8) / 3."""
    if not (isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant)):
        return False
    addends, left = 1, node.left
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        addends, left = addends + 1, left.left
    return addends > 1 and node.right.value == addends


class _Literals:
    """The numbers of an expression as they are written, because a float would change them."""

    def __init__(self, expression: str, tree: ast.expr) -> None:
        self._expression = expression
        self._counting = {node.right for node in ast.walk(tree) if isinstance(node, ast.BinOp) and _is_average(node)}
        self.numbers = set[Decimal]()

    def number(self, node: ast.Constant) -> Decimal:
        if type(node.value) not in {int, float}:
            raise InvalidExpression("Only numbers are computed with.")
        value = Decimal(ast.get_source_segment(self._expression, node) or "")
        if max(abs(value.adjusted()), abs(int(value.as_tuple().exponent))) > _CONTEXT.Emax:
            raise Overflow  # 1e999999999 is short, and takes a gigabyte where it is written out
        if node not in self._counting:
            self.numbers.add(value)
        return value

    def shown(self, tree: ast.expr) -> str:
        """The expression with separators of thousands."""
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call):
                for name, value in ast.iter_fields(node):
                    if isinstance(value, ast.Constant):
                        setattr(node, name, self._named(value))
                    elif isinstance(value, list):
                        value[:] = [self._named(one) if isinstance(one, ast.Constant) else one for one in value]
        return ast.unparse(self._named(tree) if isinstance(tree, ast.Constant) else tree)

    def _named(self, node: ast.Constant) -> ast.Name:
        return ast.Name(f"{self.number(node):,f}")

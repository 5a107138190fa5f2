"""Is what they printed true? Published figures beside ours, each with a verdict that is computed.

- `holds`: ours rounds to the printed digits. `close`: within 5%. `depends`: on what the source leaves open, which is
  named. `wrong`: further off; the note says why.
- Printed figures and the inputs behind them stand in a table; a row's `kind` names the formula that recomputes it.
"""

from costkit.claims.checks import KINDS, check, ledger
from costkit.claims.judging import checked
from costkit.claims.memory import memory_checks
from costkit.claims.result import Checked, by_off, tally
from costkit.claims.scaling import chinchilla_tables, scaling_checks
from costkit.claims.spot import spot_checks
from costkit.claims.verdicts import CLOSE_FRACTION, VERDICTS, verdict

__all__ = [
    "CLOSE_FRACTION",
    "KINDS",
    "VERDICTS",
    "Checked",
    "by_off",
    "check",
    "checked",
    "chinchilla_tables",
    "ledger",
    "memory_checks",
    "scaling_checks",
    "spot_checks",
    "tally",
    "verdict",
]

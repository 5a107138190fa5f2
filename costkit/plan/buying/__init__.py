"""What does spot really cost this plan? Its bill and its finish on spot and on demand, and what would change them."""

from costkit.plan.buying.answer import Savings, savings
from costkit.plan.buying.derived import derived
from costkit.plan.buying.policies import Policies, policies
from costkit.plan.buying.scenarios import Scenario, scenarios
from costkit.plan.buying.setup import checkpoint_bytes, job, market

KEYS = (
    "model.architecture",
    "model.n_params",
    "data.n_tokens",
    "hardware",
    "training.mfu",
    "training.checkpoint_every_min",
    "training.checkpoint_write_min",
    "training.checkpoint_gb",
    "training.checkpoint_gb_per_s",
    "training.restart_min",
    "market",
    "case.spot_restarts",
    "case.spot_lost_h",
)
"""What of a plan this answer rests on."""

__all__ = [
    "KEYS",
    "Policies",
    "Savings",
    "Scenario",
    "checkpoint_bytes",
    "derived",
    "job",
    "market",
    "policies",
    "savings",
    "scenarios",
]

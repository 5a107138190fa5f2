"""What does spot really cost this plan? Its bill and its finish on spot and on demand, and what would change them."""

from costkit.plan.buying.answer import Savings, savings
from costkit.plan.buying.policies import Policies, policies
from costkit.plan.buying.scenarios import Scenario, scenarios
from costkit.plan.buying.setup import checkpoint_bytes, job, market

__all__ = ["Policies", "Savings", "Scenario", "checkpoint_bytes", "job", "market", "policies", "savings", "scenarios"]

"""The plan on a page: what it costs and how long it takes, how sure that is, and what would change it."""

from costkit.plan.costing.answer import Page, page
from costkit.plan.costing.hardware import Placed, Scaling, hardware, scaling
from costkit.plan.costing.ledger import Line, programmes
from costkit.plan.costing.swings import Swing

__all__ = ["Line", "Page", "Placed", "Scaling", "Swing", "hardware", "page", "programmes", "scaling"]

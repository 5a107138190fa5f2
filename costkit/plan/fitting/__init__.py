"""Does the plan fit, and what would? Its memory budget, the ways out, the map around it, and its settings compared."""

from costkit.plan.fitting.answer import Footprint, footprint, request
from costkit.plan.fitting.compared import Compared, Format, formats, settings
from costkit.plan.fitting.measured import measured

__all__ = ["Compared", "Footprint", "Format", "footprint", "formats", "measured", "request", "settings"]

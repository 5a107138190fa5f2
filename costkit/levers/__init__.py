"""Where do savings come from? Component times, what each lever leaves of them, the waterfall, and who gets the credit.

- A run's time is a sum of components, and its price stands apart. A lever scales a component, the price or the work.
- Savings multiply and never add; a lever can't save more than the share of what it acts on.
- Pure numbers: what a lever does to a plan is found out where the plan is, and passed in.
"""

from costkit.levers.baseline import COMPONENTS, PRICE, TIME, WORK, Baseline, component
from costkit.levers.evidence import Evidence, Named, evidence, known, speedup
from costkit.levers.falls import N_DRAWS, Step, Waterfall, waterfall
from costkit.levers.lever import GROUPS, Effect, Lever, lever, measured_lever
from costkit.levers.listed import Listed, listed
from costkit.levers.shares import Credit, attribution, further, shapley

__all__ = [
    "COMPONENTS",
    "GROUPS",
    "N_DRAWS",
    "PRICE",
    "TIME",
    "WORK",
    "Baseline",
    "Credit",
    "Effect",
    "Evidence",
    "Lever",
    "Listed",
    "Named",
    "Step",
    "Waterfall",
    "attribution",
    "component",
    "evidence",
    "further",
    "known",
    "lever",
    "listed",
    "measured_lever",
    "shapley",
    "speedup",
    "waterfall",
]

"""What is in a model? Parameters by part, FLOP per token, shapes by name, from a config.json, or of a wanted size.

- Counts are exact for the families named in `FAMILIES`; anything else is refused with a sentence, never approximated.
- FLOP are those of the matrix multiplications of training, the backward pass counted as twice the forward pass.
- Of a mixture of experts, `n_active_params` and FLOP count the experts that one token passes through.
"""

from __future__ import annotations

from costkit.architectures.huggingface import from_hf_config
from costkit.architectures.named import named, names
from costkit.architectures.shape import FAMILIES, Architecture
from costkit.architectures.sizes import of_size

__all__ = ["FAMILIES", "Architecture", "from_hf_config", "named", "names", "of_size"]

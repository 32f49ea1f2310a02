"""The explorer: look at a credal partition in the browser, say what you know, and see what moves.

:class:`Exploration` is its state and knows nothing of a page: all that can be clicked can be called.
"""

from evidentia.explorer.history import StoppedFit
from evidentia.explorer.notebook import Explorer, explore
from evidentia.explorer.recipe import script
from evidentia.explorer.state import Exploration
from evidentia.explorer.steps import Origin, Settings, Step

__all__ = ["Exploration", "Explorer", "Origin", "Settings", "Step", "StoppedFit", "explore", "script"]

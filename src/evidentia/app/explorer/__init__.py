"""The explorer: look at a credal partition in the browser, say what you know, and see what moves.

:class:`Exploration` is its state and knows nothing of a page: all that can be clicked can be called.
"""

from evidentia.app.explorer.history import StoppedFit
from evidentia.app.explorer.notebook import Explorer, explore
from evidentia.app.explorer.recipe import script
from evidentia.app.explorer.state import Exploration
from evidentia.app.explorer.steps import Origin, Settings, Step

__all__ = ["Exploration", "Explorer", "Origin", "Settings", "Step", "StoppedFit", "explore", "script"]

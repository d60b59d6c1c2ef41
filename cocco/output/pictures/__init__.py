"""Pictures of searches, plans and fronts (docs/pictures.md): each from plain data, with units, readable without colour.

Drawn without pyplot, so that nothing global changes; `saving` writes them as PNG and SVG. A picture's file, and with it
matplotlib, is imported when its name is requested.
"""

from workloads.faces import face

__getattr__, __dir__ = face(globals())

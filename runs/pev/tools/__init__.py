"""The tools of executors and planners, one module for each, and the toolbox that carries them out."""

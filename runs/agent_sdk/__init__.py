"""An executor on the Claude Agent SDK: its program runs the loop, all that it asks and does goes through the ports."""

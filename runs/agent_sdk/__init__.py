"""Planning and execution with the Claude Agent SDK: its program runs the loop, and everything that it asks and does
goes through the ports.
"""

"""The kinds of questions to people. One module per kind declares everything about it; `registry` finds them."""

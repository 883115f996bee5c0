"""Plans from outside, in forms that people and other tools use, put into that of the contract."""

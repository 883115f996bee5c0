"""How answers from outside are read: never compressed, bounded in bytes (`reading`) and in time (`watch`)."""

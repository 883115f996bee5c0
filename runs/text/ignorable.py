"""The characters that Unicode calls ignorable: no one sees them, and they say nothing. Knows nothing of Django.

Soft hyphens, spaces and joiners of no width, marks and overrides of direction, fillers, variation selectors, tags.
"""

import regex

IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Such characters for a character class of `re`."""
IGNORABLE = r"\p{Default_Ignorable_Code_Point}"
"""Such characters for an expression of `regex`."""
IGNORABLES = regex.compile(rf"{IGNORABLE}+")
UNSEEN = rf"{IGNORABLE}\u2800"
"""Characters without ink that are no spaces, for a character class of `regex`."""

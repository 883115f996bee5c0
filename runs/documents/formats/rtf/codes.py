"""The codes of RTF that mean a character, an encoding or a group that is no text."""

import re

_WORD = re.compile("[a-z]+")
LEFT_OUT = frozenset(
    _WORD.findall(
        "aftncn aftnsep aftnsepc atndate atnicn atnid atnparent atnref atntime atrfend atrfstart author background "
        "bkmkend bkmkstart buptim category colorschememapping colortbl company creatim datafield datastore doccomm "
        "docvar ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffname ffstattext filetbl ftncn "
        "ftnsep ftnsepc generator gridtbl hlinkbase info keywords latentstyles levelnumbers leveltext listlevel "
        "listname listoverridetable listpicture liststylename listtable mailmerge manager nesttableprops nextfile "
        "nonesttables nonshppict objclass objdata objname operator panose passwordhash pgptbl pict pn pnseclvl pntxta "
        "pntxtb printim private propname revtim rsidtbl rxe shprslt sn sp staticval stylesheet subject sv tc template "
        "themedata title txe userprops wgrffmtfilter writereservhash xe xmlnstbl atnauthor falt fontemb fontfile"
    )
)
LINE_ENDS = frozenset({"par", "line", "sect", "page", "row", "nestrow", "column"})
TABS = frozenset({"tab", "cell", "nestcell"})
SIGNS = {
    b"emdash": "\u2014",
    b"endash": "\u2013",
    b"emspace": "\u2003",
    b"enspace": "\u2002",
    b"qmspace": "\u2005",
    b"bullet": "\u2022",
    b"zwj": "\u200d",
    b"zwnj": "\u200c",
    b"ltrmark": "\u200e",
    b"rtlmark": "\u200f",
    b"lquote": "\u2018",
    b"rquote": "\u2019",
    b"ldblquote": "\u201c",
    b"rdblquote": "\u201d",
    b"~": "\xa0",
    b"_": "\u2011",
    b"-": "\u00ad",
    b"{": "{",
    b"}": "}",
    b"\\": "\\",
    b"\t": "\t",
}
CHARSETS = (
    {0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253"}
    | {162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874"}
    | {238: "cp1250", 254: "cp437", 255: "cp850"}
)
"""Encodings by the number that the table of fonts has for them."""

CHARACTER_SETS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
"""Encodings of files that are older than `ansicpg`."""


def date_of(packed: int) -> str:
    """Minutes, hours, days, months and years since 1900 in the bits of one number; empty where it is none."""
    packed &= 0xFFFFFFFF
    minute, hour, day = packed & 0x3F, packed >> 6 & 0x1F, packed >> 11 & 0x1F
    month, year = packed >> 16 & 0xF, 1_900 + (packed >> 20 & 0x1FF)
    return f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}" if day and month else ""

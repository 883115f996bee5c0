"""RTF files as Word and Outlook write them: line ends between codes and words, long numbers, groups in groups."""

from collections.abc import Sequence

HEAD = (
    b"{\\rtf1\\adeflang1025\\ansi\\ansicpg1252\\uc1\\adeff31507\\deff0\\stshfdbch31505\\deflang1031\r\n"
    b"{\\fonttbl{\\f0\\fbidi \\froman\\fcharset0\\fprq2{\\*\\panose 02020603050405020304}Times New Roman;}\r\n"
    b"{\\f3\\fbidi \\froman\\fcharset2\\fprq2{\\*\\panose 05050102010706020507}Symbol;}\r\n"
    b"{\\f10\\fbidi \\fnil\\fcharset2\\fprq2{\\*\\panose 05000000000000000000}Wingdings;}\r\n"
    b"{\\f41\\fbidi \\froman\\fcharset204\\fprq2 Times New Roman Cyr;}{\\f43\\fnil\\fcharset128 MS Mincho;}}\r\n"
    b"{\\colortbl;\\red0\\green0\\blue0;\\red0\\green0\\blue255;}\r\n"
    b"{\\stylesheet{\\ql \\li0\\ri0\\widctlpar\\rtlch\\fcs1 \\af0\\afs24 \\ltrch\\fcs0 \\fs24 \\snext0 Normal;}\r\n"
    b"{\\s15\\ql \\tqc\\tx4536\\sbasedon0 \\snext15 header;}{\\*\\cs10 \\additive Default Paragraph Font;}}\r\n"
    b"{\\*\\listtable{\\list\\listtemplateid-1876543210\\listhybrid{\\listlevel\\levelnfc0\\levelstartat1\r\n"
    b"{\\leveltext\\leveltemplateid1234567890\\'02\\'00.;}{\\levelnumbers\\'01;}\\fi-360\\li720 }{\\listname ;}"
    b"\\listid1594705876}}{\\*\\listoverridetable{\\listoverride\\listid1594705876\\listoverridecount0\\ls1}}\r\n"
    b"{\\*\\revtbl {Unknown;}{Ann M\\'fcller;}{Bob;}}{\\*\\rsidtbl \\rsid1234567\\rsid16727774}\r\n"
    b"{\\*\\generator Microsoft Word 16.0.1;}{\\info{\\title Lease}{\\author Ann}{\\creatim\\yr2026\\mo3\\dy1}}\r\n"
    b"{\\*\\xmlnstbl {\\xmlns1 http://schemas.microsoft.com/office/word/2003/wordml}}\\paperw11906\\paperh16838\r\n"
    b"\\pard\\plain \\ltrpar\\ql \\rtlch\\fcs1 \\af0\\afs24 \\ltrch\\fcs0 \\fs24\\lang1031 "
)
OUTLOOK = (
    b"{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl\r\n{\\f0\\fswiss Arial;}\r\n{\\f1\\fmodern Courier;}}\r\n"
    b"{\\colortbl\\red0\\green0\\blue0;\\red0\\green0\\blue255;}\r\n\\uc1\\pard\\plain\\deftab360 \\f0\\fs24 \r\n"
)
"""What Outlook puts before the HTML of a mail that it keeps as RTF."""


def by_word(*parts: str) -> bytes:
    """A file of Word with these parts one after the other."""
    return HEAD + "".join(parts).encode("latin-1") + b"{\\*\\themedata 504b0304}}"


def by_outlook(*parts: str) -> bytes:
    return OUTLOOK + "".join(parts).encode("latin-1") + b"}\r\n"


def tag(code: int, html: str) -> str:
    """A tag of the HTML, which programs that show RTF leave out."""
    return f"{{\\*\\htmltag{code} {html}}}"


def only_rtf(codes: str) -> str:
    """Codes for programs that show RTF, which are no part of the HTML."""
    return f"\\htmlrtf {codes}\\htmlrtf0 "


def field(code: str, result: str = "") -> str:
    """`code` is written as it is in Word; the backslashes of its switches are doubled here."""
    escaped = code.replace("\\", "\\\\")
    return (
        f"{{\\field\\flddirty{{\\*\\fldinst {{\\rtlch\\fcs1 \\af0 \\ltrch\\fcs0 \\insrsid16727774  {escaped} }}}}\r\n"
        f"{{\\fldrslt {{{result}}}}}}}\\sectd \\ltrsect\\linex0 "
    )


def row(*cells: str) -> str:
    """A row of a table, whose properties Word writes before and behind its cells."""
    properties = "\\trowd \\irow0\\irowband0\\ltrrow\\ts11\\trgaph108\\trleft-108\\clvertalt\\cellx4606\\cellx9212"
    inside = "".join(f"\\pard \\ltrpar\\ql \\intbl {{{cell}\\cell }}\r\n" for cell in cells)
    return f"{properties}{inside}\\pard \\intbl {{{properties}\r\n\\row }}"


def nested_row(*cells: str) -> str:
    """A row of a table in a cell of another one."""
    inside = "".join(f"\\pard \\intbl\\itap2 {{{cell}\\nestcell{{\\nonesttables\r\n\\par }}}}" for cell in cells)
    return f"{inside}{{\\*\\nesttableprops\\trowd \\cellx2303\\cellx4606\\nestrow}}{{\\nonesttables\r\n\\par }}"


def with_line_ends(tokens: Sequence[str], end: str) -> bytes:
    """A file with a line end between each two of its tokens, where it means nothing."""
    return ("{\\rtf1\\ansi\\ansicpg1252 " + end.join(tokens) + "}").encode("latin-1")

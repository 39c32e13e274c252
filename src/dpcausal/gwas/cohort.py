"""People, SNPs and genotype counts of a study, from the .fam, .bim and .bed files of PLINK.

**People** (.fam, or a phenotype file beside it). Six columns (family, person, father, mother, sex, phenotype), split at
blanks. Phenotype: 1 control, 2 case (0 and 1 with ``coding="01"``). Everything else is no phenotype (-9, NA, 0 in 1/2
coding, a word, 3.7): such people are in neither group, and no value is an error. Group membership is *public* in
everything the gwas room promises, so a warning says how many values are not among the codes. The form of a file is
checked. A phenotype file has family, person and phenotype (``column`` counts from 1 after the two ids; a first line
that begins with FID is a header). People it does not name, or names without that column, are in neither group.

**SNPs** (.bim). On opening one pass finds the line breaks and checks the form of every line, so that 200,000 lines cost
milliseconds; a line is split when its SNP is released or a filter needs it. The list of SNPs is public.

**Counts** (.bed). The file is memory-mapped and read once, by threads over blocks of SNPs (``kernels.py``). Missing
calls are counted by a public rule, the same for every SNP, so that both group sizes are the same for every SNP: as
heterozygote ("het", the default), as the homozygote of allele 2, plink's reference ("reference"), or as homozygote of
allele 1 ("allele1"). Leaving them out would give every SNP its own N, which depends on the data.

**Order of alleles.** plink 1.9 puts the study's rarer allele first, so which one is allele 1 follows the data and one
person can turn it. "het" treats both alleles alike, and so does every statistic (``cohort.proof.md``). The other two
rules do not: they are refused unless the user declares that the order is public, fixed without a look at the study
(``allele_order="public"``). Without that declaration no release says which allele is which either.

**Cost** n/32 word operations a SNP; about a third of the memory bandwidth a core. Counts are raw data: nothing here
is private, and nothing here is printed.
"""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.counts.rows import processors, run_parallel, split
from dpcausal.gwas.kernels import count_genotypes, find_lines

Coding = Literal["12", "01"]
Person = tuple[str, str]
MISSING = {"-9", "-9.0", "NA", "na", "nan", "NaN", "."}


@dataclass(frozen=True)
class People:
    """Everyone in file order, with the two groups, which are public.

    Attributes
    ----------
    names : list of (str, str)
        Family and person.
    case, control : array of bool
        Who is in which group.
    """

    names: list[Person]
    case: NDArray[np.bool_]
    control: NDArray[np.bool_]

    @property
    def cases(self) -> int:
        """Number of cases (N1)."""
        return int(self.case.sum())

    @property
    def controls(self) -> int:
        """Number of controls (N0)."""
        return int(self.control.sum())


def read_lines(path: Path) -> list[list[str]]:
    """Return the fields of every line that is not empty."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {path.name}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not a text file") from None
    return [fields for line in text.splitlines() if (fields := line.split())]


class PhenotypesIgnored(UserWarning):
    """Values that are no code of a phenotype: the people who have them are in neither group."""


def group_of(word: str, coding: Coding) -> int | None:
    """Return the group that a phenotype code means: 2 case, 1 control, 0 missing; None for no valid code.

    >>> [group_of(word, "12") for word in ("2", "1", "0", "NA", "3.7", "ill")]
    [2, 1, 0, 0, None, None]
    >>> [group_of(word, "01") for word in ("1", "0", "-9", "2")]
    [2, 1, 0, None]
    """
    if word in MISSING:
        return 0
    try:
        number = float(word)
    except ValueError:
        return None
    value = number + 1 if coding == "01" else number
    return int(value) if value in (0.0, 1.0, 2.0) else None


def phenotypes(path: Path, column: int) -> dict[Person, str]:
    """Return the word in the phenotype column of a phenotype file, by person; people without one are left out."""
    lines = read_lines(path)
    if lines and lines[0][0].upper() in ("FID", "#FID"):
        lines = lines[1:]
    if column < 1 or not any(len(fields) >= 2 + column for fields in lines):
        raise InputError(f"{path.name} has no phenotype column {column}")
    return {(fields[0], fields[1]): fields[1 + column] for fields in lines if len(fields) >= 2 + column}


def read_people(
    fam: Path,
    *,
    phenotype_file: Path | None = None,
    phenotype_column: int = 1,
    coding: Coding = "12",
    keep: Path | None = None,
) -> People:
    """Return everyone in a .fam file, with the group of each.

    Parameters
    ----------
    fam : Path
        The .fam file: family, person, father, mother, sex, phenotype.
    phenotype_file : Path or None, default None
        Family, person and phenotypes instead of those in the .fam file.
    phenotype_column : int, default 1
        Which column of that file, counted from 1 after the two ids.
    coding : str, default "12"
        "12" (1 control, 2 case) or "01" (0 control, 1 case).
    keep : Path or None, default None
        A list of people (family, person); others are in neither group.

    Returns
    -------
    People

    Raises
    ------
    InputError
        If a file can't be read as such, or one of the groups is empty. No phenotype is an error: what is not one of
        the codes counts as missing, with a ``PhenotypesIgnored`` warning.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fam = Path(folder) / "study.fam"
    ...     _ = fam.write_text("f1 p1 0 0 1 2\\nf2 p2 0 0 2 1\\n")
    ...     people = read_people(fam)
    >>> people.cases, people.controls
    (1, 1)
    """
    lines = read_lines(fam)
    if not lines:
        raise InputError(f"{fam.name} is empty")
    for number, fields in enumerate(lines, 1):
        if len(fields) != 6:
            raise InputError(f"{fam.name}, line {number}: {len(fields)} columns where a .fam file has 6")
    names = [(fields[0], fields[1]) for fields in lines]
    if phenotype_file is None:
        words = [fields[5] for fields in lines]
    else:
        by_person = phenotypes(phenotype_file, phenotype_column)
        words = [by_person.get(name, "NA") for name in names]
    if keep is not None:
        wanted = {(f[0], f[1]) for f in read_lines(keep) if len(f) > 1}
        words = [word if name in wanted else "NA" for word, name in zip(words, names, strict=True)]
    groups = [group_of(word, coding) for word in words]
    group = np.array([found or 0 for found in groups])
    people = People(names, group == 2, group == 1)
    source = (phenotype_file or fam).name
    codes = "0 (control) and 1 (case)" if coding == "01" else "1 (control) and 2 (case)"
    if people.cases + people.controls == 0:
        raise InputError(
            f"no person with a phenotype in {source} is left after filtering: only case/control phenotypes are "
            f"handled, coded {codes}"
        )
    if min(people.cases, people.controls) == 0:
        only = "controls" if people.cases == 0 else "cases"
        raise InputError(
            f"the phenotype in {source} has one class only ({only}): both cases and controls are needed"
        )
    if None in groups:
        warnings.warn(
            f"{source}: {groups.count(None):,} of {len(groups):,} people are in neither group, since their phenotype "
            f"is not one of {codes}, nor missing",
            PhenotypesIgnored,
            stacklevel=2,
        )
    return people


Rows = NDArray[np.int64]


class Variant(NamedTuple):
    """One SNP, with plink's names.

    Attributes
    ----------
    chromosome, name : str
        Where it is, and its identifier.
    position : int
        In bases.
    allele1, allele2 : str
        Allele 1 is counted. Both are "NA" in a release, unless their order is public.
    """

    chromosome: str
    name: str
    position: int
    allele1: str
    allele2: str


class BimFile(Sequence[Variant]):
    """The lines of a .bim file as variants."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = path.read_bytes()
        except OSError as error:
            raise InputError(f"can't read {path.name}: {error.strerror or error}") from None
        if self._bytes and not self._bytes.endswith(b"\n"):
            self._bytes += b"\n"
        text = np.frombuffer(self._bytes, np.uint8)
        self._ends = np.empty(np.count_nonzero(text == 10), np.int64)
        plain_lines = find_lines(text, self._ends)
        if not len(self._ends):
            raise InputError(f"{path.name} is empty")
        if not plain_lines:  # by blanks, or malformed: look at each line now, not when a SNP was paid for
            for i in range(len(self._ends)):
                self._position(i, self._fields(i)[3])

    def __len__(self) -> int:
        return len(self._ends)

    def _fields(self, i: int) -> list[bytes]:
        """Return the six columns of line ``i``."""
        start = int(self._ends[i - 1]) + 1 if i else 0
        fields = self._bytes[start : int(self._ends[i])].split()
        if len(fields) != 6:
            raise InputError(f"{self.path.name}, line {i + 1}: {len(fields)} columns where a .bim file has 6")
        return fields

    def __getitem__(self, index: int) -> Variant:  # type: ignore[override]
        i = range(len(self))[index]
        chromosome, name, _, position, one, two = self._fields(i)
        words = [word.decode("utf-8", "replace") for word in (chromosome, name, one, two)]
        return Variant(words[0], words[1], self._position(i, position), words[2], words[3])

    def _position(self, i: int, word: bytes) -> int:
        """Return the base-pair position in line ``i`` as a number; refuse a word that is none."""
        try:
            return int(word)
        except ValueError:
            raise InputError(f"{self.path.name}, line {i + 1}: the position is not a whole number") from None

    def select(self, chromosomes: str | None = None, extract: Path | None = None) -> Rows:
        """Return the rows of SNPs on these chromosomes ("1,3-5,X") and named in the ``extract`` file."""
        if chromosomes is None and extract is None:
            return np.arange(len(self))
        wanted = None if chromosomes is None else chromosome_set(chromosomes)
        names = None if extract is None else first_words(extract)
        selected = []
        for i in range(len(self)):
            chromosome, name, *_ = self._fields(i)
            if (wanted is None or without_prefix(chromosome) in wanted) and (names is None or name in names):
                selected.append(i)
        if not selected:
            raise InputError(f"no SNP of {self.path.name} is left after --chr and --extract")
        return np.array(selected)


def without_prefix(chromosome: bytes) -> bytes:
    """Return the name of a chromosome in capitals and without "chr"."""
    upper = chromosome.upper()
    return upper[3:] if upper.startswith(b"CHR") else upper


def chromosome_set(text: str) -> set[bytes]:
    """Return the chromosomes in a list with ranges, such as "1,3-5,X".

    >>> sorted(chromosome_set("1,3-5,chrX"))
    [b'1', b'3', b'4', b'5', b'X']
    """
    found: set[bytes] = set()
    for part in text.replace(" ", ",").split(","):
        low, dash, high = part.partition("-")
        if dash and low.isdigit() and high.isdigit():
            found.update(str(c).encode() for c in range(int(low), int(high) + 1))
        elif part:
            found.add(without_prefix(part.encode()))
    return found


def first_words(path: Path) -> set[bytes]:
    """Return the first word of every line."""
    try:
        return {line.split()[0] for line in path.read_bytes().splitlines() if line.split()}
    except OSError as error:
        raise InputError(f"can't read {path.name}: {error.strerror or error}") from None


UNSEEN = {"0", "."}  # how plink writes an allele that nobody in the study carries


def swapped(one: tuple[str, str], two: tuple[str, str]) -> bool | None:
    """Return whether the second pair of alleles is the first one in reverse; None if they are other alleles.

    An allele that nobody carries has no letter in the file and agrees with any, unless the pair would then hold one
    allele twice.

    >>> swapped(("A", "G"), ("A", "G")), swapped(("A", "G"), ("G", "A")), swapped(("A", "G"), ("A", "T"))
    (False, True, None)
    >>> swapped(("0", "A"), ("A", "G")), swapped(("0", "A"), ("A", "0")), swapped(("0", "A"), ("0", "G"))
    (True, True, True)
    """
    for turned, (a, b) in ((False, two), (True, two[::-1])):
        pairs = [{x, y} - UNSEEN for x, y in ((one[0], a), (one[1], b))]
        if all(len(letters) < 2 for letters in pairs) and not pairs[0] & pairs[1]:
            return turned
    return None


MissingRule = Literal["het", "reference", "allele1"]
AlleleOrder = Literal["study", "public"]
Tick = Callable[[int], None]
BLOCK = 2048  # SNPs between two ticks of progress
MAGIC, SNP_MAJOR = b"\x6c\x1b", 1
_ONES, _ZERO = np.uint64(2**64 - 1), np.uint64(0)
_RULES = {"het": (_ONES, _ONES), "reference": (_ONES, _ZERO), "allele1": (_ZERO, _ZERO)}


@proved("cohort.proof.md")
def check_missing_rule(missing: str, allele_order: str) -> None:
    """Raise ``InputError`` for an unknown rule or order, or a rule that needs a public order of alleles.

    Such a rule does not treat both alleles alike, and the order may follow the study.
    """
    if missing not in ("het", "reference", "allele1"):
        raise InputError(f"missing must be het, reference or allele1, not {missing!r}")
    if allele_order not in ("study", "public"):
        raise InputError(f"allele_order must be study or public, not {allele_order!r}")
    if missing != "het" and allele_order != "public":
        raise InputError(
            f"missing={missing} needs a public order of alleles, and plink 1.9 orders them by the study's own counts: "
            "use het, or declare allele_order=public if the order was fixed without looking at the study"
        )


@dataclass(frozen=True)
class GenotypeCounts:
    """Genotypes counted in both groups at every SNP. These are raw counts: not private.

    Attributes
    ----------
    table : array of int
        ``table[i]`` = (hom1, het) of the cases, (hom1, het) of the controls at SNP ``variants[rows[i]]``.
    cases, controls : int
        The numbers of people, which are public.
    variants : sequence of Variant
        The SNPs of the study.
    rows : array of int
        Which of them are counted.
    missing : str, default "het"
        How a missing call was counted: "het", "reference" or "allele1".
    allele_order : str, default "study"
        "study" where the order of a SNP's two alleles may follow the study, as plink 1.9's does; "public" where it was
        fixed without looking at it.
    file : path, optional
        The prefix of the files that were counted: settings beside them may ask for a ledger.

    Raises
    ------
    InputError
        If missing calls were counted by a rule that needs a public order, and the order is not declared to be.
    """

    table: NDArray[np.int32]
    cases: int
    controls: int
    variants: Sequence[Variant]
    rows: Rows
    missing: str = "het"
    allele_order: str = "study"
    file: Path | None = None

    def __post_init__(self) -> None:
        check_missing_rule(self.missing, self.allele_order)

    def __len__(self) -> int:
        return len(self.table)

    def genotypes(self) -> NDArray[np.int64]:
        """Return a 2 x 3 table for each SNP: (case, control) by (hom1, het, hom2)."""
        two = self.table.reshape(-1, 2, 2).astype(np.int64)
        rest = np.array([self.cases, self.controls]) - two.sum(axis=2)
        return np.concatenate([two, rest[:, :, None]], axis=2)

    def alleles(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the copies of allele 1 at each SNP: among cases (c11) and among controls (c10)."""
        t = self.table
        return 2 * t[:, 0] + t[:, 1], 2 * t[:, 2] + t[:, 3]

    def variant(self, i: int) -> Variant:
        """Return the SNP of row ``i`` with its alleles as the file has them."""
        return self.variants[int(self.rows[i])]

    def public_variant(self, i: int) -> Variant:
        """Return the SNP of row ``i`` as a release may name it.

        Without its alleles, unless their order is public.

        An order that follows the study tells which allele is the rarer one, and an allele that nobody carries has no
        letter in the file.
        """
        found = self.variant(i)
        return found if self.allele_order == "public" else found._replace(allele1="NA", allele2="NA")


@dataclass(frozen=True)
class Cohort:
    """People and SNPs of PREFIX.bed/.bim/.fam after filtering, checked against the size of the .bed file.

    Attributes
    ----------
    bed : Path
        The file of genotypes.
    people : People
        Who takes part, and who is a case.
    variants : sequence of Variant
        The SNPs of the .bim file.
    rows : array of int
        Which of them were selected.
    """

    bed: Path
    people: People
    variants: BimFile
    rows: Rows

    @classmethod
    def open(
        cls,
        prefix: str | Path,
        *,
        phenotype_file: Path | None = None,
        phenotype_column: int = 1,
        coding: Coding = "12",
        keep: Path | None = None,
        chromosomes: str | None = None,
        extract: Path | None = None,
    ) -> Cohort:
        """Read .fam and .bim and check the .bed file; no genotype is looked at.

        Parameters
        ----------
        prefix : path
            PREFIX of PREFIX.bed, .bim and .fam.
        phenotype_file, phenotype_column, coding, keep
            As in ``read_people``.
        chromosomes : str or None, default None
            Chromosomes to keep, as in "1,3-5,X"; None is all.
        extract : Path or None, default None
            A list of SNPs to keep.

        Returns
        -------
        Cohort

        Raises
        ------
        InputError
            If a file is missing or malformed, or the sizes do not fit.
        """
        bed, bim, fam = (Path(f"{prefix}{end}") for end in (".bed", ".bim", ".fam"))
        for path in (bed, bim, fam):
            if not path.is_file():
                raise InputError(f"there is no file {path.name} (PREFIX means PREFIX.bed, .bim and .fam)")
        people = read_people(
            fam, phenotype_file=phenotype_file, phenotype_column=phenotype_column, coding=coding, keep=keep
        )
        variants = BimFile(bim)
        check_bed(bed, len(people.names), len(variants))
        return cls(bed, people, variants, variants.select(chromosomes, extract))

    def count(
        self,
        *,
        missing: MissingRule = "het",
        allele_order: AlleleOrder = "study",
        threads: int | None = None,
        tick: Tick | None = None,
    ) -> GenotypeCounts:
        """Count the genotypes of every selected SNP.

        Parameters
        ----------
        missing : str, default "het"
            How a missing call is counted: as "het", as the homozygote of allele 2 ("reference") or of allele 1
            ("allele1"). The last two need a public order.
        allele_order : str, default "study"
            "public" declares that the order of alleles in the .bim file was fixed without looking at the study, such
            as that of a reference genome. plink 1.9's own is not: it puts the study's rarer allele first.
        threads : int or None, default None
            How many threads; None is one for every core.
        tick : callable or None, default None
            Called with the number of SNPs done since the last call.

        Returns
        -------
        GenotypeCounts

        Raises
        ------
        InputError
            If ``missing`` needs a public order that was not declared.
        """
        check_missing_rule(missing, allele_order)
        stride = (len(self.people.names) + 3) // 4
        case, control = group_mask(self.people.case, stride), group_mask(self.people.control, stride)
        out = np.empty((len(self.rows), 4), np.int32)
        with self.bed.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        view = np.frombuffer(mapped, np.uint8)
        safe = (len(view) - 3 - case.nbytes) // stride + 1  # rows before this have a whole mask behind them
        tail = np.zeros(max(len(self.variants) - safe, 0) * stride + case.nbytes, np.uint8)
        rest = view[3 + max(safe, 0) * stride :]
        tail[: len(rest)] = rest
        start, tail_start = np.uint64(view.ctypes.data + 3), np.uint64(tail.ctypes.data)
        inner = int(np.searchsorted(self.rows, safe))

        def task(low: int, high: int) -> Callable[[], None]:
            def run() -> None:
                for a in range(low, high, BLOCK):
                    b = min(a + BLOCK, high)
                    cut = min(max(inner, a), b)
                    count_genotypes(
                        start, stride, self.rows[a:cut], case, control, *_RULES[missing], out[a:cut]
                    )
                    late = self.rows[cut:b] - max(safe, 0)
                    count_genotypes(tail_start, stride, late, case, control, *_RULES[missing], out[cut:b])
                    if tick is not None:
                        tick(b - a)

            return run

        run_parallel([task(a, b) for a, b in split(len(self.rows), threads or processors())])
        people = self.people
        return GenotypeCounts(
            out,
            people.cases,
            people.controls,
            self.variants,
            self.rows,
            missing,
            allele_order,
            self.bed.with_suffix(""),
        )


def check_bed(bed: Path, people: int, variants: int) -> None:
    """Refuse a .bed file whose first bytes, order or size do not fit its .fam and .bim."""
    with bed.open("rb") as file:
        head = file.read(3)
    size, stride = bed.stat().st_size, (people + 3) // 4
    if len(head) < 3 or head[:2] != MAGIC:
        raise InputError(f"{bed.name} is not a PLINK 1 .bed file: its first bytes are not 6c 1b")
    if head[2] != SNP_MAJOR:
        raise InputError(f"{bed.name} is stored person by person: rewrite it SNP by SNP (plink --make-bed)")
    expected = 3 + stride * variants
    if size != expected:
        what = "truncated" if size < expected else "too long"
        raise InputError(
            f"{bed.name} is {what}, or does not belong to its .bim and .fam: {size} bytes where {variants} SNPs of "
            f"{people} people take {expected}"
        )


def group_mask(members: NDArray[np.bool_], stride: int) -> NDArray[np.uint64]:
    """Return a bit mask of the group's members in 64-bit words, aligned with the .bed file's two bits a person."""
    pairs = np.zeros(16 * (-(-stride // 16)) * 4, np.uint8)
    pairs[: len(members)] = members
    quads = pairs.reshape(-1, 4) << np.array([0, 2, 4, 6], np.uint8)
    packed: NDArray[np.uint8] = np.bitwise_or.reduce(quads, axis=1).astype(np.uint8)
    return packed.view(np.uint64)

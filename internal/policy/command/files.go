package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// fileRow returns the row of a program that tells of files, finds them, or
// changes those that it names.
func fileRow(name string) (row, bool) {
	switch name {
	case "ls", "dir", "vdir":
		return row{short: "aAbBcCdDfFgGhHiI=klLmnNopqQrRsStT=uUvw=xXZ1", long: "all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink? indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero help version", full: true}, true
	case "stat":
		return row{short: "Lfc=tx", long: "dereference file-system cached= format= printf= terse help version", full: true}, true
	case "readlink":
		return row{short: "femnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero help version", full: true}, true
	case "realpath":
		return row{short: "eEmLPqsz", long: "canonicalize canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip no-symlinks zero help version", full: true}, true
	case "file":
		return row{short: "bdEhikLlNnprsv0e=F=P=#f=!C!m=!S!z!Z", long: "brief mime mime-type mime-encoding apple extension dereference no-dereference separator= no-pad raw keep-going print0 exclude= exclude-quiet= parameter= preserve-date list help version #files-from= !compile !magic-file= !no-sandbox !uncompress"}, true
	case "du":
		return row{short: "0abB=cd=DhHklLmPsSt=xX<", long: "null all apparent-size block-size= bytes total dereference-args max-depth= #files0-from= si human-readable inodes kilobytes dereference count-links no-dereference separate-dirs summarize threshold= time? time-style= exclude-from< exclude= one-file-system help version", full: true}, true
	case "df":
		return row{short: "aB=hHiklPt=Tx=v", long: "all block-size= human-readable si inodes local no-sync output? portability print-type type= exclude-type= total help version"}, true
	case "diff":
		return row{
			short: "abBcC=dD=eEF=hHiI=nNL=pqrsS=tTuU=wW=x=X<yZ", digits: true,
			long: "normal brief report-identical-files context? unified? ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= suppress-blank-empty recursive no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude= exclude-from< starting-file= from-file< to-file< " +
				"ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= strip-trailing-cr text minimal horizon-lines= speed-large-files color? palette= ifdef= line-format= old-line-format= new-line-format= unchanged-line-format= help version",
		}, true
	case "tree":
		return row{short: "adfixpsuhDgqNQFvrtcUnCASJXL=P=I=H=T=#l!o=!R", long: "dirsfirst filesfirst noreport gitignore gitfile< prune filelimit= du si inodes device timefmt= ignore-case matchdirs metafirst sort= charset= nolinks help version", exact: true}, true
	case "rg":
		return row{
			short: "A=B=C=e=f<E=g=M=m=d=j=r=t=T=ivwxslnNcoquUFPSHI0abp.h!z#L",
			long: "after-context= before-context= context= regexp= file< encoding= glob= iglob= max-columns= max-count= max-depth= maxdepth= threads= replace= type= type-not= type-add= type-clear= type-list ignore-case invert-match word-regexp line-regexp case-sensitive smart-case fixed-strings pcre2 line-number no-line-number count count-matches only-matching quiet unrestricted files files-with-matches files-without-match hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot no-ignore-global no-ignore-exclude no-ignore-files no-ignore-messages no-messages " +
				"multiline multiline-dotall null null-data sort= sortr= stats text color= colors= column no-column heading no-heading with-filename no-filename trim passthru passthrough pretty vimgrep json crlf one-file-system binary line-buffered block-buffered byte-offset context-separator= field-context-separator= field-match-separator= include-zero no-config max-filesize= max-columns-preview no-require-git path-separator= engine= auto-hybrid-regex unicode no-unicode ignore-file< ignore-file-case-insensitive glob-case-insensitive stop-on-nonmatch sort-files version help pcre2-version !pre= !pre-glob= !hostname-bin= !search-zip !hyperlink-format= #follow",
			operands: patterns, pattern: "-e --regexp -f --file --files --type-list",
		}, true
	case "fd", "fdfind":
		return row{
			short:    "HIsigaltpFu01qd=t=e=E=c=j=S=o=h#L!x!X",
			long:     "hidden no-ignore no-ignore-vcs no-ignore-parent case-sensitive ignore-case glob regex fixed-strings absolute-path relative-path full-path max-depth= min-depth= exact-depth= prune type= extension= size= changed-within= changed-before= owner= exclude= color= threads= max-results= print0 quiet base-directory< search-path< strip-cwd-prefix? list-details show-errors one-file-system unrestricted path-separator= ignore-file< and= format= no-require-git version help #follow !exec= !exec-batch=",
			operands: patterns,
		}, true
	case "zcat", "gzcat", "bzcat", "xzcat", "zstdcat", "lzcat":
		return row{short: "fqv", exact: true}, true
	case "nm", "size":
		return row{short: "aABCDglnoprSsuvhdxt=f=", exact: true}, true
	case "readelf":
		return row{short: "ahlSgtesnrudVWAI", long: "all file-header program-headers section-headers symbols dyn-syms notes relocs dynamic version-info wide help version", exact: true}, true
	case "objdump":
		return row{short: "afhpxdDtTrRCwj=M=", long: "archive-headers file-headers section-headers all-headers disassemble syms dynamic-syms reloc demangle? section= help version", exact: true}, true
	case "tee":
		return row{short: "aip", long: "append ignore-interrupts output-error? help version", full: true, operands: written}, true
	case "mkdir":
		return row{short: "m=pv!Z", long: "mode= parents verbose !context? help version", full: true, operands: written}, true
	case "touch":
		return row{short: "acd=fhmr<t=", long: "no-create date= no-dereference reference< time= help version", full: true, operands: written, exact: true}, true
	case "truncate":
		return row{short: "cos=r<", long: "no-create io-blocks reference< size= help version", full: true, operands: written, exact: true}, true
	case "rm":
		return row{short: "fiIrRdv", long: "force interactive? one-file-system recursive dir verbose !no-preserve-root preserve-root? help version", full: true, operands: removed, recurse: "-r -R --recursive"}, true
	case "unlink":
		return row{operands: removed, exact: true}, true
	case "rmdir":
		return row{short: "pv", long: "ignore-fail-on-non-empty parents verbose help version", full: true, operands: removed}, true
	}
	return row{}, false
}

// chmod takes a mode, which may begin with a dash, and files.
func chmod(args []shellsyntax.Word) Effect {
	e := Effect{Kind: Writes}
	mode := false
	for _, a := range args {
		t := a.Text
		switch {
		case !a.Known && !mode:
			return other("a mode of chmod that cannot be known before")
		case a.Known && (t == "-R" || t == "--recursive"):
			e.Recursive = true
		case a.Known && (t == "-c" || t == "-f" || t == "-v" || t == "--changes" || t == "--quiet" || t == "--silent" || t == "--verbose" || t == "--"):
		case a.Known && strings.HasPrefix(t, "-") && (mode || strings.Trim(t[1:], "rwxXst") != ""):
			return other("chmod " + t + " is not known to be harmless")
		case !mode:
			mode = true
		default:
			e.Writes = append(e.Writes, a)
		}
	}
	return e
}

// copies reads cp, mv and ln: the last operand is where it goes.
func copies(name string, args []shellsyntax.Word) Effect {
	r := row{short: "abdfHiLnPpRrS=t=Tuvx", long: "archive attributes-only backup? copy-contents force interactive dereference no-clobber no-dereference preserve? no-preserve= parents recursive reflink? remove-destination sparse= strip-trailing-slashes suffix= target-directory= no-target-directory update? verbose one-file-system keep-directory-symlink debug help version !symbolic-link !link !context?", full: true}
	switch name {
	case "mv":
		r = row{short: "bfinS=t=Tuv", long: "backup? force interactive no-clobber no-copy strip-trailing-slashes suffix= target-directory= no-target-directory update? verbose exchange debug help version !context", full: true}
	case "ln":
		r = row{short: "bdFfiLnPrsS=t=Tv", long: "backup? directory force interactive logical no-dereference physical relative symbolic suffix= target-directory= no-target-directory verbose help version", full: true}
	}
	r.exact = true
	opts, operands, why := r.scan(args)
	if why != "" {
		return other(name + " " + why)
	}
	e := Effect{Kind: Writes}
	var target []shellsyntax.Word
	symbolic := false
	for _, o := range opts {
		switch {
		case o.is("-t --target-directory"):
			target = append(target, o.value)
		case o.is("-s --symbolic"):
			symbolic = true
		case o.is("-r -R -a --recursive --archive"):
			e.Recursive = true
		case o.is("-S --suffix") && (!o.value.Known || strings.Contains(o.value.Text, "/")):
			return other(name + " with a backup somewhere else")
		case o.is("--exchange"):
			return other(name + " --exchange changes both files")
		}
	}
	if len(target) == 0 && len(operands) > 1 {
		target, operands = operands[len(operands)-1:], operands[:len(operands)-1]
	}
	e.Writes = target
	switch name {
	case "mv":
		e.Removes = operands
	case "ln":
		if symbolic && !linkInside(operands, target) {
			return other("a link to another folder makes paths mean something else")
		}
		e.Reads = operands
	default:
		e.Reads = operands
	}
	return e
}

// linkInside: what a symbolic link names is relative to the link's own folder,
// so only plain names and paths downwards are sure to stay.
func linkInside(operands, target []shellsyntax.Word) bool {
	for _, o := range append(operands[:len(operands):len(operands)], target...) {
		if !o.Known || strings.HasPrefix(o.Text, "/") || slices.Contains(strings.Split(o.Text, "/"), "..") || strings.HasPrefix(o.Text, "~") {
			return false
		}
	}
	return true
}

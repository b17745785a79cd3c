package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Git is a parsed git command line.
type Git struct {
	Global  []shellsyntax.Word // options before the subcommand
	Sub     string             // "" if it cannot be known
	Args    []shellsyntax.Word // after the subcommand
	Dirs    []shellsyntax.Word // the values of -C
	Foreign bool               // it has -c, --git-dir, --exec-path or the like
}

// GitPaths reports whether the arguments of a program are paths that git restores,
// moves or removes, and whether it removes everything below them.
func GitPaths(program string, args []shellsyntax.Word) (paths, deep bool) {
	if program != "git" {
		return false, false
	}
	switch ParseGit(args).Sub {
	case "checkout", "restore", "clean":
		return true, false
	case "rm", "mv":
		return true, true
	}
	return false, false
}

// ParseGit parses git's arguments.
func ParseGit(args []shellsyntax.Word) Git {
	var g Git
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known {
			g.Foreign = true
			return g
		}
		if !strings.HasPrefix(a.Text, "-") {
			g.Sub, g.Args = a.Text, args[i+1:]
			return g
		}
		g.Global = append(g.Global, a)
		switch {
		case a.Text == "-C":
			if i++; i < len(args) {
				g.Dirs = append(g.Dirs, args[i])
			}
		case a.Text == "-c" || a.Text == "--git-dir" || a.Text == "--work-tree" || a.Text == "--namespace" || a.Text == "--exec-path" || a.Text == "--config-env" || a.Text == "--super-prefix":
			g.Foreign = true
			i++
		case a.Text == "--no-pager" || a.Text == "-P" || a.Text == "--no-optional-locks" || a.Text == "--literal-pathspecs" || a.Text == "--version" || a.Text == "--no-replace-objects":
		default:
			g.Foreign = true
		}
	}
	return g
}

// Options of git's diff machinery that neither write nor run anything.
const gitDiff = " p patch u U= unified= no-patch s raw patch-with-raw indent-heuristic no-indent-heuristic minimal patience histogram anchored= diff-algorithm= stat? compact-summary numstat shortstat dirstat? cumulative dirstat-by-file? summary patch-with-stat z name-only name-status color? no-color color-moved? no-color-moved color-moved-ws= word-diff? word-diff-regex= color-words? no-renames rename-empty no-rename-empty check ws-error-highlight= full-index binary abbrev? no-abbrev B? break-rewrites? M? find-renames? C? find-copies? find-copies-harder D irreversible-delete l= diff-filter= S= G= find-object= pickaxe-all pickaxe-regex O< relative? no-relative a text ignore-cr-at-eol ignore-space-at-eol b ignore-space-change w ignore-all-space ignore-blank-lines I= ignore-matching-lines= inter-hunk-context= W function-context exit-code quiet no-ext-diff no-textconv src-prefix= dst-prefix= no-prefix default-prefix line-prefix= ita-invisible-in-index R cached staged merge-base combined-all-paths c cc m t diff-merges= no-diff-merges base ours theirs 0 1 2 3 !ext-diff !textconv !output= no-index "

// Options of git's walks of history.
const gitWalk = " n= max-count= skip= since= after= until= before= since-as-filter= author= committer= grep= grep-reflog= all-match invert-grep i regexp-ignore-case basic-regexp E extended-regexp F fixed-strings P perl-regexp remove-empty merges no-merges min-parents= max-parents= no-min-parents no-max-parents first-parent exclude-first-parent-only not all branches? tags? remotes? glob= exclude= reflog alternate-refs bisect ignore-missing cherry-mark cherry-pick left-only right-only cherry g walk-reflogs merge boundary simplify-by-decoration simplify-merges full-history dense sparse show-pulls ancestry-path? date-order author-date-order topo-order reverse objects no-walk? do-walk pretty? format= abbrev-commit no-abbrev-commit oneline encoding= expand-tabs? no-expand-tabs notes? no-notes show-notes? relative-date date= parents children left-right graph no-graph show-linear-break? decorate? no-decorate decorate-refs= decorate-refs-exclude= source mailmap use-mailmap no-mailmap log-size L= follow full-diff clear-decorations h "

// gitUsage returns the usage of a subcommand that only reads under the configuration
// that Closed sets.
func gitUsage(sub string) (usage, bool) {
	r := usage{exact: true}
	switch sub {
	case "status":
		r.dash = "s short b branch show-stash porcelain? long v vv verbose u? untracked-files? ignored? z column? no-column ahead-behind no-ahead-behind renames no-renames find-renames? uno uall unormal sb bs"
	case "diff", "show", "log", "whatchanged", "diff-tree", "diff-index", "diff-files", "range-diff":
		r.dash = gitDiff + gitWalk + "r root stdin no-commit-id always left-right no-dual-color creation-factor= "
	case "rev-list":
		r.dash = gitWalk + "count timestamp header disk-usage? objects-edge object-names no-object-names filter= no-filter bisect-vars bisect-all use-bitmap-index test-bitmap quiet z abbrev? no-commit-header commit-header missing= "
	case "shortlog":
		r.dash = "s summary n numbered e email w? group= c " + gitWalk
	case "blame", "annotate":
		r.dash = "b root show-stats L= l t S< reverse= p porcelain line-porcelain incremental encoding= date= progress no-progress M? C? ignore-rev= ignore-revs-file< color-lines color-by-age c score-debug f show-name n show-number s e show-email w abbrev= h minimal"
	case "rev-parse":
		r.dash = "parseopt sq-quote revs-only no-revs flags no-flags default= prefix= verify q quiet sq short? not abbrev-ref? symbolic symbolic-full-name all branches? tags? remotes? glob= exclude= disambiguate= local-env-vars path-format= git-dir absolute-git-dir git-common-dir resolve-git-dir< git-path= show-toplevel show-superproject-working-tree shared-index-path is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository show-prefix show-cdup show-object-format? show-ref-format since= after= until= before="
	case "ls-files":
		r.dash = "c cached d deleted m modified o others i ignored s stage directory no-empty-directory u unmerged k killed resolve-undo z t v f x= exclude= X< exclude-from< exclude-per-directory= exclude-standard error-unmatch with-tree= full-name abbrev? debug deduplicate eol sparse format= co"
	case "ls-tree":
		r.dash = "d r t l long z name-only name-status object-only abbrev? full-name full-tree format= rt"
	case "describe":
		r.dash = "dirty? broken? all tags contains abbrev= candidates= exact-match debug long match= exclude= always first-parent"
	case "grep":
		r = usage{
			short: "aiIwvhHEGPFnlLOzcopWqm=A=B=C=e=f<r", digits: true, exact: true, operands: patterns, pattern: "-e -f",
			long: "cached untracked no-index no-exclude-standard exclude-standard text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match null only-matching count color? no-color break heading show-function after-context= before-context= context= function-context max-depth= threads= all-match and or not quiet max-count= recursive no-recursive !textconv no-textconv !open-files-in-pager?",
		}
		r.short = strings.Replace(r.short, "O", "!O", 1)
	case "name-rev":
		r.dash = "tags refs= exclude= all stdin annotate-stdin name-only no-undefined always"
	case "merge-base":
		r.dash = "a all octopus independent is-ancestor fork-point"
	case "for-each-ref", "show-ref":
		r.dash = "count= sort= format= shell perl python tcl color? points-at= merged? no-merged? contains? no-contains? ignore-case omit-empty exclude= stdin include-root-refs start-after= head d dereference s hash? verify exists abbrev? q quiet heads branches tags exclude-existing?"
	case "count-objects":
		r.dash = "v verbose H human-readable vH"
	case "check-ignore":
		r.dash = "q quiet v verbose stdin z n non-matching no-index"
	case "check-attr":
		r.dash = "a all cached stdin z source="
	case "cherry":
		r.dash = "v abbrev?"
	case "version":
		r.dash = "build-options"
	case "cat-file":
		r.dash = "t s e p batch? batch-check? batch-command? batch-all-objects buffer unordered allow-unknown-type follow-symlinks Z z use-mailmap mailmap path= !textconv !filters"
	case "show-branch":
		r.dash = "r remotes a all current topo-order date-order sparse more= list merge-base independent no-name sha1-name topics g? reflog? color? no-color"
	case "var":
		r.dash = ""
	case "stash", "remote", "worktree", "reflog", "tag", "branch", "config", "submodule", "bundle", "notes", "lfs":
		return usage{}, true
	default:
		return usage{}, false
	}
	if sub != "grep" {
		r.digits = true
	}
	return r, true
}

// git returns the effect of git. Under the configuration that Closed sets, the accepted
// forms only read and run no program that the repository chooses.
func git(_ string, args []shellsyntax.Word) Effect {
	g := ParseGit(args)
	if g.Foreign {
		return other("git with options that change its configuration or repository")
	}
	if g.Sub == "" {
		if len(g.Global) == 1 && isOneOf(g.Global[0], "--version") || len(args) == 0 {
			return Effect{Kind: Reads}
		}
		return other("git without a subcommand that is known")
	}
	r, ok := gitUsage(g.Sub)
	if !ok {
		return other("git " + g.Sub + " is not known to only read")
	}
	if len(g.Dirs) > 1 || len(g.Dirs) == 1 && !g.Dirs[0].Known {
		return other("git -C in a folder that cannot be known before")
	}
	rest := g.Args
	switch g.Sub {
	case "branch":
		if !branchLists(rest) {
			return other("git branch changes branches")
		}
		return Effect{Kind: Reads, Reads: g.Dirs}
	case "config":
		if ConfigWrites(rest) {
			return other("git config changes the configuration")
		}
		return Effect{Kind: Reads, Reads: g.Dirs}
	case "tag":
		r = usage{dash: "l list n? sort= format= contains? no-contains? merged? no-merged? points-at= column? no-column i ignore-case color? omit-empty", exact: true, operands: text}
		opts, names, why := r.scan(rest)
		if why == "" && len(names) > 0 && !slices.ContainsFunc(opts, func(o opt) bool {
			return o.is("-l -list -n -contains -no-contains -merged -no-merged -points-at")
		}) {
			return other("git tag makes a tag")
		}
	case "stash":
		switch {
		case len(rest) > 0 && isOneOf(rest[0], "list"):
			r = usage{dash: gitDiff + gitWalk, exact: true, digits: true}
		case len(rest) > 0 && isOneOf(rest[0], "show"):
			r = usage{dash: gitDiff + "include-untracked only-untracked", exact: true, digits: true}
		default:
			return other("git stash changes files")
		}
		rest = rest[1:]
	case "remote":
		r = usage{dash: "v verbose", exact: true, most: 1, operands: text}
		if len(rest) > 0 && isOneOf(rest[0], "get-url") {
			rest, r = rest[1:], usage{dash: "push all", exact: true, operands: text}
		}
	case "worktree":
		if len(rest) == 0 || !isOneOf(rest[0], "list") {
			return other("git worktree changes worktrees")
		}
		rest, r = rest[1:], usage{dash: "porcelain v verbose z expire=", exact: true, operands: text}
	case "reflog":
		if len(rest) > 0 && isOneOf(rest[0], "show", "exists", "list") {
			rest = rest[1:]
		} else if len(rest) > 0 && isOneOf(rest[0], "expire", "delete", "drop") {
			return other("git reflog " + rest[0].Text + " removes history")
		}
		r = usage{dash: gitDiff + gitWalk, exact: true, digits: true}
	case "notes", "lfs", "submodule", "bundle":
		return other("git " + g.Sub + " is not known to only read")
	}
	for _, a := range rest {
		if strings.Contains(a.Text, "%G") {
			return other("git " + g.Sub + " with %G runs the program that checks signatures")
		}
	}
	e := r.effect("git "+g.Sub, rest)
	if e.Kind == Reads {
		e.Reads = append(e.Reads, g.Dirs...)
	}
	return e
}

// branchLists reports whether "git branch" only lists: it has no branch name, or an
// option that makes names into search patterns.
func branchLists(args []shellsyntax.Word) bool {
	list, names := false, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known {
			return false
		}
		name, _, has := strings.Cut(a.Text, "=")
		switch name {
		case "-a", "-r", "-l", "--list", "--all", "--remotes", "--show-current", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at":
			list = true
		case "-v", "-vv", "--verbose", "--color", "--no-color", "--column", "--no-column", "-i", "--ignore-case":
		case "--sort", "--format":
			if !has {
				i++
			}
		default:
			if strings.HasPrefix(name, "-") {
				return false
			}
			names = true
		}
	}
	return list || !names
}

func isOneOf(w shellsyntax.Word, names ...string) bool {
	for _, n := range names {
		if w.Known && w.Text == n {
			return true
		}
	}
	return false
}

// ConfigWrites reports whether the arguments of "git config" change, or may change,
// anything.
func ConfigWrites(args []shellsyntax.Word) bool {
	operands, reads := 0, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known {
			return true
		}
		if operands > 0 { // git takes the word after a name as the value, dash or not
			operands++
			continue
		}
		name, _, has := strings.Cut(a.Text, "=")
		switch name {
		case "--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color", "--get-colorbool":
			reads = true
		case "--local", "--global", "--system", "--worktree", "-z", "--null", "--name-only", "--show-origin", "--show-scope", "--includes", "--no-includes", "--bool", "--int", "--path", "--all":
		case "--type", "--default", "-t":
			if !has {
				i++
			}
		case "get", "list":
			if !reads {
				reads = true
				continue
			}
			operands++
		default:
			if strings.HasPrefix(name, "-") {
				return true
			}
			operands++
		}
	}
	// "git config user.name" reads; with a value after the name, it writes.
	return !reads && operands != 1
}

package syntax

import (
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// block is a comment or a string that may span several lines.
type block struct {
	begin, end string
	role       styled.Role
}

// language describes the lexical elements of a language.
type language struct {
	names    string // its names, separated by blanks
	comments string // what begins a comment to the end of the line, separated by blanks
	alone    bool   // a comment begins only after a blank
	blocks   []block
	quotes   string // the quotes of strings on one line
	keywords string
	builtin  string
	fold     bool // upper and lower case are equal
	types    bool // a word with a capital letter is a type
	calls    bool // a word before a parenthesis is a function
	keys     bool // a string before a colon is a name
	byLine   func(string) styled.Role

	once  sync.Once
	roles map[string]styled.Role
}

func (l *language) words() map[string]styled.Role {
	l.once.Do(func() {
		l.roles = map[string]styled.Role{}
		for w := range strings.FieldsSeq(l.builtin) {
			l.roles[w] = styled.Type
		}
		for w := range strings.FieldsSeq(l.keywords) {
			l.roles[w] = styled.Keyword
		}
	})
	return l.roles
}

func (l *language) comment(rest string, free bool) bool {
	for sign := range strings.FieldsSeq(l.comments) {
		if strings.HasPrefix(rest, sign) && (free || !l.alone) {
			return true
		}
	}
	return false
}

// opened returns the delimiter of a block that begins at the start of rest, "" for
// none.
func (l *language) opened(rest string) string {
	for _, b := range l.blocks {
		if strings.HasPrefix(rest, b.begin) {
			return b.begin
		}
	}
	return ""
}

// known is built when the first code is shown, so it costs nothing at start.
var known = sync.OnceValue(func() map[string]*language {
	out := map[string]*language{}
	for _, l := range languages() {
		for n := range strings.FieldsSeq(l.names) {
			out[n] = l
		}
	}
	return out
})

func find(name string) *language { return known()[name] }

func languages() []*language {
	c := []block{{"/*", "*/", styled.Comment}}
	with := func(bs ...block) []block { return append(bs, c...) }
	text := func(sign string) block { return block{sign, sign, styled.String} }
	return []*language{
		{
			names: "go golang", comments: "//", blocks: with(text("`")), quotes: `"'`, calls: true,
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota",
			builtin:  "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
		},
		{
			names: "python py py3 pyi starlark bzl", comments: "#", blocks: []block{text(`"""`), text("'''")}, quotes: `"'`, types: true, calls: true,
			keywords: "and as assert async await break class continue def del elif else except finally for from global if import in is lambda match case nonlocal not or pass raise return try while with yield None True False self",
			builtin:  "int str float bool list dict set tuple bytes object type",
		},
		{
			names: "javascript js jsx mjs cjs typescript ts tsx mts node", comments: "//", blocks: with(text("`")), quotes: `"'`, types: true, calls: true,
			keywords: "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw try type typeof undefined var void while with yield true false",
			builtin:  "any boolean never number object string symbol unknown bigint",
		},
		{
			names: "rust rs", comments: "//", blocks: c, quotes: `"`, types: true, calls: true,
			keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
			builtin:  "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
		},
		{
			names: "c h cpp c++ cc cxx hpp hh objc m arduino", comments: "//", blocks: c, quotes: `"'`, calls: true,
			keywords: "alignas auto break case catch class const constexpr continue default define delete do else endif enum explicit extern final for friend goto if ifdef ifndef include inline namespace new noexcept nullptr NULL operator override private protected public register return sizeof static static_cast struct switch template this throw true false try typedef typename union using virtual volatile while",
			builtin:  "bool char double float int long short signed unsigned void size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
		},
		{
			names: "java kotlin kt kts scala groovy gradle csharp cs c# swift dart php", comments: "//", blocks: with(text(`"""`)), quotes: `"'`, types: true, calls: true,
			keywords: "abstract as async await base break by case catch class companion const continue data def default defer do else enum extends extension false final finally for fun func function get guard if implements import in init inner instanceof interface internal is lateinit let match namespace native new nil null object open operator out override package private protected public readonly record ref return sealed self set static struct super suspend switch synchronized this throw throws trait true try type typealias using val var virtual void when where while with yield echo foreach use",
			builtin:  "boolean bool byte char double float int long short string",
		},
		{
			names: "bash sh shell zsh fish console terminal shellscript ksh", comments: "#", alone: true, quotes: `"'`,
			keywords: "if then elif else fi for while until do done case esac in function select return break continue export local readonly declare set unset source exit trap shift",
		},
		{
			names: "ruby rb elixir ex exs crystal", comments: "#", quotes: `"'`, types: true,
			keywords: "alias and begin break case class def defmodule defp do else elsif end ensure false fn for if in module next nil not or redo rescue retry return self super then true unless until use when while with yield require import attr_accessor attr_reader",
		},
		{
			names: "json jsonc json5 geojson", comments: "//", blocks: c, quotes: `"`, keys: true, keywords: "true false null",
		},
		{
			names: "yaml yml toml ini conf cfg properties dotenv env editorconfig", comments: "# ;", alone: true, quotes: `"'`, keywords: "true false null yes no on off",
		},
		{
			names: "dockerfile docker containerfile makefile make mk cmake just justfile", comments: "#", quotes: `"'`,
			keywords: "FROM RUN CMD COPY ADD ENV ARG EXPOSE WORKDIR ENTRYPOINT USER VOLUME LABEL AS ifeq ifneq ifdef else endif include define endef export if endif foreach endforeach function endfunction set",
		},
		{
			names: "sql psql mysql sqlite postgresql plsql", comments: "--", blocks: c, quotes: `'"`, fold: true, calls: true,
			keywords: "add all alter and as asc begin between by case check commit constraint create cross database default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with",
			builtin:  "bigint blob boolean char date datetime decimal int integer json jsonb numeric real serial text time timestamp uuid varchar",
		},
		{
			names: "lua haskell hs ada", comments: "--", quotes: `"`, calls: true,
			keywords: "and break case class data deriving do else elseif end false for function goto if import in instance let local module newtype nil not of or repeat return then true type until where while",
		},
		{
			names: "css scss less sass", blocks: c, quotes: `"'`, calls: true, keywords: "important media import keyframes supports mixin include extend",
		},
		{
			names: "html xml svg vue svelte xhtml htm", blocks: []block{{"<!--", "-->", styled.Comment}}, quotes: `"`,
			keywords: "html head body div span script style link meta title a p ul ol li table tr td th form input button img h1 h2 h3 h4 section nav main template",
		},
		{
			names: "proto protobuf thrift graphql gql hcl terraform tf nix zig v", comments: "// #", blocks: c, quotes: `"'`, types: true, calls: true,
			keywords: "syntax package import option message service rpc returns enum oneof repeated optional required map reserved query mutation subscription type input interface union scalar fragment on resource data variable output module provider locals for_each true false null let in with rec inherit if then else fn pub const var return struct try catch defer comptime",
			builtin:  "string bool int32 int64 uint32 uint64 float double bytes Int Float String Boolean ID",
		},
		{names: "diff patch udiff", byLine: func(l string) styled.Role {
			switch {
			case strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "--- "):
				return styled.Heading
			case strings.HasPrefix(l, "@@"):
				return styled.Hunk
			case strings.HasPrefix(l, "+"):
				return styled.Added
			case strings.HasPrefix(l, "-"):
				return styled.Removed
			}
			return styled.Text
		}},
	}
}

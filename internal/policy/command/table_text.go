package command

// textPrograms returns the programs that work on text.
func textPrograms() []program {
	return []program{
		{names: "cat", is: reader | inert, usage: &usage{short: "AbeEnstTuv", long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting help version", full: true}},
		{names: "tac", usage: &usage{short: "brs=", long: "before regex separator= help version", full: true}},
		{names: "rev", usage: &usage{short: "0", long: "zero"}},
		{names: "nl", usage: &usage{short: "b=d=f=h=i=l=n=ps=v=w=", long: "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width= help version", full: true}},
		{names: "head", is: reader, usage: &usage{short: "c=n=qvz", long: "bytes= lines= quiet silent verbose zero-terminated help version", full: true, digits: true}},
		{names: "tail", is: reader, usage: &usage{short: "c=fFn=qs=vzr", long: "bytes= follow? lines= max-unchanged-stats= pid= quiet silent retry sleep-interval= verbose zero-terminated debug help version", full: true, digits: true}},
		{names: "wc", prints: printsOne, is: reader | counts | hides, usage: &usage{short: "clmLw", long: "bytes chars lines #files0-from= max-line-length words total= debug help version", full: true}},
		{names: "cut", usage: &usage{short: "b=c=d=f=nszw", long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated help version", full: true}},
		{names: "paste", usage: &usage{short: "d=sz", long: "delimiters= serial zero-terminated help version", full: true}},
		{names: "join", usage: &usage{short: "a=e=i1=2=j=o=t=v=z", long: "ignore-case check-order nocheck-order header zero-terminated help version", full: true}},
		{names: "column", usage: &usage{short: "tedJLxc=s=o=N=l=E=H=O=R=T=W=r=i=p=n=", long: "table separator= output-separator= table-columns= table-right= table-truncate= table-wrap= table-hide= table-order= table-noheadings json table-name= columns= output-width= fillrows keep-empty-lines table-empty-lines tree= tree-id= tree-parent="}},
		{names: "comm", usage: &usage{short: "123z", long: "check-order nocheck-order output-delimiter= total zero-terminated help version", full: true}},
		{names: "uniq", usage: &usage{short: "cdDf=is=uzw=", long: "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated check-chars= help version", full: true, most: 2, exact: true}},
		{names: "sort", usage: &usage{short: "bcCdfghik=mMnrRsS=t=uVz!o=!T=", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort random-source< reverse sort= version-sort batch-size= check? !compress-program= debug #files0-from= key= merge !output= stable buffer-size= field-separator= !temporary-directory= parallel= unique zero-terminated help version", full: true}, flags: "--compress-program -o --output"},
		{names: "shuf", usage: &usage{short: "ei=n=rz!o=", long: "echo input-range= head-count= !output= random-source< repeat zero-terminated help version", full: true}},
		{names: "tsort factor", usage: &usage{}},
		{names: "fold", usage: &usage{short: "bcsw=", long: "bytes characters spaces width= help version", full: true, digits: true}},
		{names: "fmt", usage: &usage{short: "csutw=g=p=", long: "crown-margin prefix= split-only tagged-paragraph uniform-spacing width= goal= help version", full: true, digits: true}},
		{names: "pr", usage: &usage{short: "adD=e?fFh=i?Jl=mn?N=o=rs?S?tTvw=W=", digits: true}},
		{names: "expand unexpand", usage: &usage{short: "aft=i", long: "all first-only initial tabs= help version", digits: true}},
		{names: "tr", is: tells},
		{names: "seq", is: tells},
		{names: "numfmt", usage: &usage{short: "d=z", long: "debug delimiter= field= format= from= from-unit= grouping header? invalid= padding= round= suffix= to= to-unit= zero-terminated help version", full: true, operands: text}},
		{names: "expr", is: tells},

		{names: "grep egrep fgrep", prints: printsMatches, is: tellsVersion | reader | inert, search: grepSearch, lists: matchLists, usage: &usage{
			short: "EFGPe=f<ivwxzsVm=bnHhoqaILlcTZUuyA=B=C=d=D=rR",
			long: "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file< ignore-case no-ignore-case word-regexp line-regexp null-data no-messages invert-match version help max-count= byte-offset line-number line-buffered with-filename no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive dereference-recursive include= exclude= exclude-from< exclude-dir= " +
				"files-without-match files-with-matches count initial-tab null before-context= after-context= context= color? colour? binary unix-byte-offsets group-separator= no-group-separator",
			full: true, digits: true, operands: patterns, pattern: "-e --regexp -f --file",
		}},
		{names: "rg", is: tellsVersion | reader | readsFolder, search: rgSearch, lists: matchLists, usage: &usage{
			short: "A=B=C=e=f<E=g=M=m=d=j=r=t=T=ivwxslnNcoquUFPSHI0abp.h!z#L",
			long: "after-context= before-context= context= regexp= file< encoding= glob= iglob= max-columns= max-count= max-depth= maxdepth= threads= replace= type= type-not= type-add= type-clear= type-list ignore-case invert-match word-regexp line-regexp case-sensitive smart-case fixed-strings pcre2 line-number no-line-number count count-matches only-matching quiet unrestricted files files-with-matches files-without-match hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot no-ignore-global no-ignore-exclude no-ignore-files no-ignore-messages no-messages " +
				"multiline multiline-dotall null null-data sort= sortr= stats text color= colors= column no-column heading no-heading with-filename no-filename trim passthru passthrough pretty vimgrep json crlf one-file-system binary line-buffered block-buffered byte-offset context-separator= field-context-separator= field-match-separator= include-zero no-config max-filesize= max-columns-preview no-require-git path-separator= engine= auto-hybrid-regex unicode no-unicode ignore-file< ignore-file-case-insensitive glob-case-insensitive stop-on-nonmatch sort-files version help pcre2-version !pre= !pre-glob= !hostname-bin= !search-zip !hyperlink-format= #follow",
			operands: patterns, pattern: "-e --regexp -f --file --files --type-list",
		}, flags: "--pre --hostname-bin"},
		{names: "sed", is: tellsVersion | interpreter | filter | scripted, effect: sed, executes: scriptExecutes, changes: Editing},
		{names: "awk gawk mawk nawk", is: tellsVersion | interpreter | filter | scripted, effect: awk, executes: scriptExecutes},
		{names: "jq", is: tellsVersion, effect: jq},

		{names: "od", usage: &usage{short: "A=j=N=S?t=vw?abcdfhilosx", long: "address-radix= skip-bytes= read-bytes= strings? format= output-duplicates width? traditional endian= help version", full: true}},
		{names: "hexdump hd", usage: &usage{short: "bcCdoxXve=f<n=s=", long: "one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex format= format-file< length= skip= no-squeezing help version"}},
		{names: "xxd", usage: &usage{dash: "a autoskip b bits C capitalize c= cols= d E EBCDIC e g= groupsize= i include l= len= n= name= o= p ps plain postscript r revert s= seek= u uppercase v version h help R=", most: 2}},
		{names: "strings", usage: &usage{short: "adfn=e=t=ows=", long: "all data print-file-name bytes= radix= encoding= include-all-whitespace output-separator= help version", digits: true}},
		{names: "base64 base32 base58 basenc", usage: &usage{short: "dDiw=b=!o=", long: "decode ignore-garbage wrap= break= base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 !output= input< help version"}},
		{names: "cmp", usage: &usage{short: "bi=ln=s", long: "print-bytes ignore-initial= verbose bytes= quiet silent help version", full: true}},
		{names: "diff", is: reader, search: diffSearch, usage: &usage{
			short: "abBcC=dD=eEF=hHiI=nNL=pqrsS=tTuU=wW=x=X<yZ", digits: true,
			long: "normal brief report-identical-files context? unified? ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= suppress-blank-empty recursive no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude= exclude-from< starting-file= from-file< to-file< " +
				"ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= strip-trailing-cr text minimal horizon-lines= speed-large-files color? palette= ifdef= line-format= old-line-format= new-line-format= unchanged-line-format= help version",
		}},

		{names: "cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum shasum md5", is: counts | hides, usage: &usage{short: "a=b#cl=tzwrsp0UT", long: "algorithm= base64 binary #check debug ignore-missing length= quiet raw status strict tag text untagged warn zero help version"}},
		{names: "less", is: reader | closes, effect: pager, flags: "-P --pager +!"},
		{names: "more", is: closes, effect: pager, flags: "-P --pager +!"},
		{names: "man", is: closes, effect: manual, flags: "-P --pager +!"},
	}
}

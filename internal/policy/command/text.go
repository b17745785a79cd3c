package command

// textRow returns the row of a program that works on text, or only tells.
func textRow(name string) (row, bool) {
	switch name {
	case "cat":
		return row{short: "AbeEnstTuv", long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting help version", full: true}, true
	case "tac":
		return row{short: "brs=", long: "before regex separator= help version", full: true}, true
	case "rev":
		return row{short: "0", long: "zero"}, true
	case "nl":
		return row{short: "b=d=f=h=i=l=n=ps=v=w=", long: "body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width= help version", full: true}, true
	case "head":
		return row{short: "c=n=qvz", long: "bytes= lines= quiet silent verbose zero-terminated help version", full: true, digits: true}, true
	case "tail":
		return row{short: "c=fFn=qs=vzr", long: "bytes= follow? lines= max-unchanged-stats= pid= quiet silent retry sleep-interval= verbose zero-terminated debug help version", full: true, digits: true}, true
	case "wc":
		return row{short: "clmLw", long: "bytes chars lines #files0-from= max-line-length words total= debug help version", full: true}, true
	case "comm":
		return row{short: "123z", long: "check-order nocheck-order output-delimiter= total zero-terminated help version", full: true}, true
	case "cmp":
		return row{short: "bi=ln=s", long: "print-bytes ignore-initial= verbose bytes= quiet silent help version", full: true}, true
	case "paste":
		return row{short: "d=sz", long: "delimiters= serial zero-terminated help version", full: true}, true
	case "join":
		return row{short: "a=e=i1=2=j=o=t=v=z", long: "ignore-case check-order nocheck-order header zero-terminated help version", full: true}, true
	case "fold":
		return row{short: "bcsw=", long: "bytes characters spaces width= help version", full: true, digits: true}, true
	case "expand", "unexpand":
		return row{short: "aft=i", long: "all first-only initial tabs= help version", digits: true}, true
	case "fmt":
		return row{short: "csutw=g=p=", long: "crown-margin prefix= split-only tagged-paragraph uniform-spacing width= goal= help version", full: true, digits: true}, true
	case "pr":
		return row{short: "adD=e?fFh=i?Jl=mn?N=o=rs?S?tTvw=W=", digits: true}, true
	case "strings":
		return row{short: "adfn=e=t=ows=", long: "all data print-file-name bytes= radix= encoding= include-all-whitespace output-separator= help version", digits: true}, true
	case "cksum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "sum", "shasum", "md5":
		return row{short: "a=b#cl=tzwrsp0UT", long: "algorithm= base64 binary #check debug ignore-missing length= quiet raw status strict tag text untagged warn zero help version"}, true
	case "cut":
		return row{short: "b=c=d=f=nszw", long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated help version", full: true}, true
	case "od":
		return row{short: "A=j=N=S?t=vw?abcdfhilosx", long: "address-radix= skip-bytes= read-bytes= strings? format= output-duplicates width? traditional endian= help version", full: true}, true
	case "hexdump", "hd":
		return row{short: "bcCdoxXve=f<n=s=", long: "one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex format= format-file< length= skip= no-squeezing help version"}, true
	case "xxd":
		return row{dash: "a autoskip b bits C capitalize c= cols= d E EBCDIC e g= groupsize= i include l= len= n= name= o= p ps plain postscript r revert s= seek= u uppercase v version h help R=", most: 2}, true
	case "column":
		return row{short: "tedJLxc=s=o=N=l=E=H=O=R=T=W=r=i=p=n=", long: "table separator= output-separator= table-columns= table-right= table-truncate= table-wrap= table-hide= table-order= table-noheadings json table-name= columns= output-width= fillrows keep-empty-lines table-empty-lines tree= tree-id= tree-parent="}, true
	case "uniq":
		return row{short: "cdDf=is=uzw=", long: "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated check-chars= help version", full: true, most: 2, exact: true}, true
	case "sort":
		return row{short: "bcCdfghik=mMnrRsS=t=uVz!o=!T=", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort random-source< reverse sort= version-sort batch-size= check? !compress-program= debug #files0-from= key= merge !output= stable buffer-size= field-separator= !temporary-directory= parallel= unique zero-terminated help version", full: true}, true
	case "shuf":
		return row{short: "ei=n=rz!o=", long: "echo input-range= head-count= !output= random-source< repeat zero-terminated help version", full: true}, true
	case "tsort", "factor":
		return row{}, true
	case "base64", "base32", "base58", "basenc":
		return row{short: "dDiw=b=!o=", long: "decode ignore-garbage wrap= break= base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 !output= input< help version"}, true
	case "numfmt":
		return row{short: "d=z", long: "debug delimiter= field= format= from= from-unit= grouping header? invalid= padding= round= suffix= to= to-unit= zero-terminated help version", full: true, operands: text}, true
	case "grep", "egrep", "fgrep":
		return row{
			short: "EFGPe=f<ivwxzsVm=bnHhoqaILlcTZUuyA=B=C=d=D=rR",
			long: "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file< ignore-case no-ignore-case word-regexp line-regexp null-data no-messages invert-match version help max-count= byte-offset line-number line-buffered with-filename no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive dereference-recursive include= exclude= exclude-from< exclude-dir= " +
				"files-without-match files-with-matches count initial-tab null before-context= after-context= context= color? colour? binary unix-byte-offsets group-separator= no-group-separator",
			full: true, digits: true, operands: patterns, pattern: "-e --regexp -f --file",
		}, true
	case "free":
		return row{short: "bkmghtwlvs=c=", long: "bytes kilo mega giga tera kibi mebi gibi tebi human si lohi line total wide seconds= count= help version", operands: text}, true
	case "hash":
		return row{short: "lt!p!d!r", operands: text}, true
	case "hostname":
		return row{short: "aAdfiIsy!F!b", long: "alias all-fqdns all-ip-addresses domain fqdn long ip-address short nis yp help version", operands: text, most: 1, exact: true}, true
	case "ss":
		return row{short: "HnraloempitsuxdwS046VhZz!K!D=#F=", long: "no-header numeric all listening options extended memory processes info summary tcp udp raw unix ipv4 ipv6 help version", operands: text, exact: true}, true
	case "lsof":
		return row{short: "nPtwlai?p=u=c=d=s?", operands: paths, exact: true}, true
	}
	return row{}, false
}

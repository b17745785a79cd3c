package tools

import "testing"

// SPEC 4.15, 16.3, 16.8: the lines of TestLandings in other words.
func TestLandingSisters(t *testing.T) {
	dir, files := pathRig(t)
	pathRows(t, dir, files, nil, `
????a cat -- outf
????a grep -n out/*
????a grep -rn . -e x
????a grep -rn . -exec y
????a grep -r . --regexp x
????a grep -r . -f f.txt
????a rg . -e x
????a rg -ne x
????a grep -r x --fixed-strings
????a grep -r x --files-with-matches
????a rg x --field-match-separator=y
????a rg x -tf
????a grep -rm1 x
????a rg x -te .
????a git grep -ne 'x*'
????a grep -e out*
????a grep -c o*tf a
RRRRR find . -name zz | xargs grep -R x
?d??a xargs grep -R x < /dev/null
RRRRR find . -exec grep -R x {} +
RRRRR nice find . -exec grep -R x {} +
RRRRR find src -name zz | xargs grep -R x
????a cat ./out/../sib/f
????a cat $(echo outf)
????a x=outf; cat $x
????a x=out; cat "$x/f"
????a cat {outf,f.txt}
????a cat o{ut,x}f
????a cat <(cat outf)
????a cat `+"`echo f.txt`"+` outf
????a while read l; do echo $l; done < outf
?.??a mapfile -t a < outf
????a sort -m outf
????a awk 1 outf
????a sed -n p outf
????a head -n1 -- out/f
????a tail -f outf
????a cut -c1 outf
????a jq . outf
????a comm f.txt outf
????a grep -f outf f.txt
????a grep --file=outf f.txt
????a diff --from-file=outf f.txt
????a find out/ -name x
?.??a find -L . -name x
?.??a find . -follow
????a ls out/sub
????a rg x out
?.??a rg -L x a
?.??a rg --follow x a
????a git diff --no-index f.txt outf
????a cat ./[o]utf
????a cat *f
????a cat **/secret.txt
????a cat out?(f)
????a cat */*/../secret.txt
????a cat */../outf
????a cat src/*/../../outf
????a cd out; cat f
????a cd out/sub/..; cat f
????a cd -P l/.. ; cat secret.txt
?.??a pushd out; cat f
????a (cd out && cat f)
????a grep -r x out
????a grep -r x out/
????a grep -r x a/up2/
????a od -c outf
????a base64 outf
????a strings outf
?.??a cp outf here; cat here
????a nl outf
????a wc -c outf
????a md5sum outf
????a tac outf
????a cat a/../outf
????a cat "$PWD/outf"
????a cat ~+/outf
????a cat .env*
aaaaa cat ./.env
????a grep -h . .e?v
????a grep -rI . .
????a grep -rl . .
????a grep -Hrn . *
????a grep . -r
????a grep -e . -r .
?.??a zgrep -r . .
????a find . -name '*.pem' -exec cat {} +
????a find . -type f -exec cat {} +
?.??a find . -type f | xargs cat
?.??a ls | xargs cat
?.??a git ls-files | xargs cat
????a find . -type f -print0 | xargs -0 cat
????a find . -print0 | xargs -0 grep TOKEN
????a find . -name '*.p*' -print0 | xargs -0 cat
????a find . -type f -exec grep TOKEN {} +
????a find certs -type f -exec head -1 {} +
aaaaa find . -name '*.go' -print0 | xargs -0 grep foo
aaaaa find . -name '*.go' -exec grep foo {} +
aaaaa find src -type f -exec grep foo {} +
aaaaa find . -name '*.go' -exec wc -l {} +
????a head -100 * 
????a cat certs/server*
????a cat certs/*.p?m
????a tail -n +1 certs/*
????a cat < certs/server.pem
????a paste certs/*
????a diff certs/server.pem f.txt
????a for f in certs/*; do cat $f; done
????a cat */*.pem
?.??a sed -n p *.yaml
????a awk 1 secrets.y*
RRRRR echo x | tee -a f.txt hooks/post-commit
RRRRR cat f.txt > hooks/x
RRRRR printf x >| hooks/x
RRRRR echo x &> hooks/x
RRRRR : > hooks/x
RRRRR exec 3> hooks/x
RRRRR { echo x; } > hooks/x
RRRRR (echo x) > hooks/x
RRRRR for i in 1; do echo x; done > hooks/x
RRRRR if true; then echo x; fi > hooks/x
RRRRR while false; do :; done > hooks/x
RRRRR f() { echo x; } > hooks/x; f
RRRRR f() { echo x > hooks/x; }; f
RRRRR bash -c 'echo x > hooks/x'
RRRRR eval 'echo x > hooks/x'
RRRRR sh <<< 'echo x > hooks/x'
RRRRR cp -t hooks f.txt
RRRRR cp --target-directory=hooks f.txt
RRRRR cp --target=hooks f.txt
RRRRR mv -t hooks f.txt
RRRRR install -m755 f.txt hooks/
RRRRR install -t hooks f.txt
RRRRR install -D f.txt hooks/x
RRRRR ln -sf ../../f.txt hooks/post-commit
RRRRR ln f.txt hooks
RRRRR rsync f.txt hooks/
RRRRR tar xf a.tar -C hooks
RRRRR unzip a.zip -d hooks
RRRRR wget -O hooks/x http://h
RRRRR curl -o hooks/x http://h
RRRRR git show HEAD:x > hooks/x
RRRRR split f.txt hooks/x
RRRRR patch hooks/x p
RRRRR gofmt -w hooks/x.go
RRRRR truncate -s 0 hooks/x
RRRRR find hooks -delete
RRRRR find hooks/ -type f -delete
RRRRR xargs -a f.txt tee hooks/x
RRRRR env tee hooks/x
RRRRR timeout 5 tee hooks/x
RRRRR command tee hooks/x
RRRRR sudo tee hooks/x
RRRRR x=hooks; echo x > $x/post-commit
RRRRR d=$PWD/hooks; echo x > "$d/x"
RRRRR echo x > h*ks/x
RRRRR cp f.txt h[o]oks/
RRRRR cp f.txt hook?
?d??a echo x > {hooks,src}/x
RRRRR tee {hooks,src}/x
RRRRR mkdir -p z && ln -s ../.git/hooks z/h && echo x > z/h/x
RRRRR mkdir -p z; cd z; ln -s ../.git/hooks h; echo x > h/x
RRRRR ln -sr .git/hooks hk; echo x > hk/x
RRRRR ln -s -- .git/hooks hk; echo x > hk/x
RRRRR ln -s .git/hooks; echo x > hooks/x
RRRRR ln -s .git x1; ln -s x1/hooks x2; echo x > x2/f
RRRRR ln -s x1/hooks x2; ln -s .git x1; echo x > x2/f
RRRRR cp -R hooks hk; echo x > hk/f
RRRRR mv hooks a/; mv a/hooks . ; echo x > hooks/x
RRRRR rmdir sub; ln -s .git/hooks sub; echo x > sub/post-commit
RRRRR rm -rf sub && ln -s .git/hooks sub && cp f.txt sub/post-commit
RRRRR mv sub s9; ln -s .git/hooks sub; echo x > sub/x
RRRRR ln -s .git/hooks {h1x,h2x}; echo x > h2x/hooks/x
RRRRR if ln -s .git/hooks hk; then echo x > hk/x; fi
RRRRR ln -s .git/hooks hk || true; [ -d hk ] && cp f.txt hk/
RRRRR (ln -s .git/hooks hk); (echo x > hk/x)
RRRRR ln -s .git/hooks hk & sleep 1; echo x > hk/x
RRRRR busybox ln -s .git/hooks hk; echo x > hk/x
?d??? cp f.txt c*
?d??? echo x > no*.md
?d??? mkdir cl/commands
?d??? mv f.txt cl/
?d??? sed -i s/a/b/ notes.md
?d??? tee AGENTS.md < f.txt
?d??? ln -sf f.txt AGENTS.md
?d??? cp README.md agents.md
?d??? mv README.md CLAUDE.md
?d??? cat > .envrc < f.txt
?d??? touch .vscode/tasks.json
?d??? mkdir .vscode
?d??? rm AGENTS.md
?d??? rm *.md
RRRRR echo x > .git/../hooks/y
RRRRR echo x > HOOKS/../hooks/y
RRRRR cat f.txt | while read l; do echo $l > hooks/x; done
RRRRR find src -name a.go -exec cp {} hooks/ \;
RRRRR find src -name a.go | xargs -I{} cp {} hooks/x
RRRRR select x in a; do echo > hooks/x; done
RRRRR case a in a) echo x > hooks/x;; esac
RRRRR coproc tee hooks/x
RRRRR trap 'echo x > hooks/x' EXIT
RRRRR echo x | dd of=hooks/x
RRRRR go build -o hooks/x .
RRRRR go test -c -o hooks/x
RRRRR gcc -ohooks/x a.c
RRRRR make --output=hooks/x
RRRRR sort f.txt -ohooks/x
?d??a sed -n 'w hooks/x' f.txt
?d??a awk '{print > "hooks/x"}' f.txt
RRRRR tee -- hooks/x
RRRRR mktemp hooks/XXXX
RRRRR mkfifo hooks/x
RRRRR cp f.txt hooks/../hooks/x
RRRRR cp f.txt src/../in/../hooks/x
RRRRR cp f.txt in/root/hooks/
RRRRR ln -s "$(pwd)/.git/hooks" hk; echo x > hk/x
RRRRR a=.git; ln -s $a/hooks hk; echo x > hk/x
RRRRR readonly T=.git/hooks; ln -s $T hk; echo x > hk/x
RRRRR ln -s .git/hooks hk; cd hk; echo x > post-commit
RRRRR ln -s .git/hooks hk; cd hk && cp ../f.txt .
RRRRR ln -s .git/hooks hk; tee h?/x < f.txt
RRRRR ln -s .git/hooks hk; cp f.txt h*
RRRRR ln -s .git/hooks hk; mv f.txt hk
RRRRR ln -s .git/hooks hk; sed -i s/a/b/ hk/pre-push
RRRRR ln -s .git/hooks hk; rm hk/pre-push
RRRRR cp -a hooks hk && mv hk h3 && echo x > h3/y
RRRRR mv hooks h1 && mv h1 h2 && mv h2 h3x && echo x > h3x/y
RRRRR cp -R docs d2 && cp -R d2 d3 && echo x > d3/gh/hooks/y
?.??a ln -s ../sib/secret.txt s; cat s
?.??a cp -P outf o2; cat o2
?.??a mv outf o2; cat o2
?.??a mv out o2; cat o2/*
?.??a cp -a out o2; grep -r x o2/
?.?aa ln -s .env e; cat e
?.aaa cp .env e; cat e
?.??a mv .env e; cat e
?.??a ln .env e; cat e
?.??a cp -r certs c2; cat c2/server.pem
?.??a cp -r certs c2; cat c2/*
?.??a mv certs c2; grep -r x c2
`)
}

package permission

import (
	"strings"
	"testing"
)

// SPEC 4.15: what may lose what others pushed can never be granted always.
func TestForcePushNeverAlways(t *testing.T) {
	for _, line := range []string{
		"git push --force", "git push -f", "git push --force-with-lease", "git push --mirror", "git push --delete origin x", "git push -d origin x", "git push --prune",
		"git push origin +main", "git push origin :main", "git push -uf origin main", "git push origin $X", "git -C sub push --mirror", "timeout 5 git push --mirror",
	} {
		for _, mode := range []Mode{AskMode, AcceptEdits, Auto} {
			if d := policy(t, mode, User, nil, nil, nil).Decide(bash(line)); d.Verdict != Ask || d.CanAlways {
				t.Errorf("%s in %s: %s, always %v", line, mode, d.Verdict, d.CanAlways)
			}
		}
	}
	if d := policy(t, Auto, User, nil, nil, nil).Decide(bash("git push origin main")); !d.CanAlways {
		t.Error("an ordinary push can be granted always")
	}
}

// SPEC 16.5: a deny rule for a program holds behind whatever runs it.
func TestDenySeesThrough(t *testing.T) {
	for _, c := range []struct {
		rule, line string
		want       Verdict
	}{
		{"bash(git push *)", "git push origin", Deny},
		{"bash(git push *)", "env -S 'git push origin'", Deny},
		{"bash(git push *)", "script -qc 'git push' /dev/null", Deny},
		{"bash(git push *)", "flock f git push", Deny},
		{"bash(git push *)", "strace git push", Deny},
		{"bash(git push *)", "watch -g git push", Deny},
		{"bash(git push *)", "unshare git push", Deny},
		{"bash(git push *)", "setpriv --no-new-privs git push", Deny},
		{"bash(git push *)", "prlimit --nofile=9 git push", Deny},
		{"bash(git push *)", "runuser -u root -- git push", Deny},
		{"bash(git push *)", "su -c 'git push'", Deny},
		{"bash(git push *)", "capsh -- -c 'git push'", Deny},
		{"bash(git push *)", "npm exec -c 'git push'", Deny},
		{"bash(git push *)", "git -c alias.x=push x", Deny},
		{"bash(git push *)", "git -c alias.x='!git push' x", Deny},
		{"bash(git push *)", "git -c a.b=c push", Deny},
		{"bash(git push *)", "git --git-dir x push", Deny},
		{"bash(git push *)", "git subtree push -P x y", Deny},
		{"bash(git push *)", "git send-pack origin", Deny},
		{"bash(git push *)", "git rebase -x 'git push' HEAD~1", Deny},
		{"bash(git push *)", "git bisect run git push", Deny},
		{"bash(git push *)", "/usr/lib/git-core/git-push origin", Deny},
		{"bash(git push *)", "gdb -ex '!git push'", Deny},
		{"bash(git push *)", `awk 'BEGIN{system("git push")}'`, Deny},
		{"bash(git push *)", "sed '1e git push' a", Deny},
		{"bash(git push *)", "tmux new -d 'git push'", Deny},
		{"bash(git push *)", "parallel git push ::: a", Deny},
		{"bash(git push *)", "find . -exec git push {} +", Deny},
		{"bash(git push *)", "ls | xargs git push", Deny},
		{"bash(git push *)", "xargs -0 -I % git push % < list", Deny},
		{"bash(git push *)", "ls | xargs -n1 sh -c 'git push \"$0\"'", Deny},
		{"bash(git push *)", "find . -exec sh -c 'git push' ';'", Deny},
		{"bash(git push *)", "env -S 'git push'", Deny},
		{"bash(git push *)", "env -C sub git push", Deny},
		{"bash(git push *)", `\time -o f git push`, Deny},
		{"bash(git push *)", "timeout --zap 5 git push", Deny},
		{"bash(git push *)", "nohup -z git push", Deny},
		{"bash(git push *)", "setsid -f git push", Deny},
		{"bash(git push *)", "sudo -D /x git push", Deny},
		{"bash(git push *)", "sudo -i git push", Deny},
		{"bash(git push *)", `python3 -c 'import os; os.system("git push")'`, Deny},
		{"bash(git push *)", "ssh host git push", Deny},
		{"bash(git push *)", "git $X origin", Deny},
		{"bash(git push *)", "echo git push", Allow},
		{"bash(git push *)", "grep -rn 'git push' .", Allow},
		{"bash(git push *)", "git log --grep='git push'", Allow},
		{"bash(git push *)", "git commit -m 'push it'", Allow},
		{"bash(rm *)", "hash -p /bin/rm ls; ls f", Deny},
		{"bash(rm *)", "/lib64/ld-linux-x86-64.so.2 /bin/rm f", Deny},
		{"bash(rm *)", "nsenter -t 1 rm f", Deny},
		{"bash(curl *)", "timeout 5 curl x", Deny},
		{"bash(curl *)", "watch 'curl x'", Deny},
	} {
		p := policy(t, Yolo, User, nil, nil, []string{c.rule})
		if d := p.Decide(bash(c.line)); d.Verdict != c.want {
			t.Errorf("%s with deny %s: %s (%s)", c.line, c.rule, d.Verdict, d.Reason)
		}
	}
}

// SPEC 16.5: an allow rule with a wildcard does not cover what makes a program
// run other code, in whatever style it is written; and covers what it names.
func TestAllowNames(t *testing.T) {
	for _, c := range []struct {
		rule, line string
		want       Verdict
	}{
		{"bash(tar *)", "tar cIf zap x f", Ask},
		{"bash(tar *)", "tar cFf zap x f", Ask},
		{"bash(tar *)", "tar xIf zap x", Ask},
		{"bash(tar *)", "tar --use-compress-program=zap -xf x", Ask},
		{"bash(tar *)", "tar cf x f", Allow},
		{"bash(tar *)", "tar xzf x.tgz", Allow},
		{"bash(make *)", "make -E '$(shell id)' test", Ask},
		{"bash(make *)", "make --eval='x' test", Ask},
		{"bash(make *)", "make deploy", Allow},
		{"bash(python3 *)", "python3 <<< 'print(1)'", Ask},
		{"bash(python3 *)", "python3 - <<< 'print(1)'", Ask},
		{"bash(python3 *)", "python3 <<E⏎print(1)⏎E", Ask},
		{"bash(python3 *)", "python3 < x.py", Ask},
		{"bash(python3 *)", "python3 -u < x.py", Ask},
		{"bash(python3 *)", "python3 -W ignore < x.py", Ask},
		{"bash(python3 *)", "python3 /dev/stdin < x.py", Ask},
		{"bash(python3 *)", "cat x.py | python3", Ask},
		{"bash(python3 *)", "python3 x.py", Allow},
		{"bash(python3 *)", "python3 -u x.py < data", Allow},
		{"bash(node *)", "node <<< 1", Ask},
		{"bash(node *)", "node - < x", Ask},
		{"bash(node *)", "node x.js", Allow},
		{"bash(ruby *)", "ruby < x", Ask},
		{"bash(perl *)", "perl - < x", Ask},
		{"bash(xargs *)", "ls | xargs wc -l", Allow},
		{"bash(xargs *)", "find . | xargs grep foo", Allow},
		{"bash(xargs *)", "ls | xargs rm", Ask},
		{"bash(xargs *)", "ls | xargs sh -c 'rm x'", Ask},
		{"bash(xargs *)", "ls | xargs env rm", Ask},
		{"bash(xargs *)", "ls | xargs -n1 sudo rm", Ask},
		{"bash(env *)", "env -S 'rm x'", Ask},
		{"bash(timeout *)", "timeout --zap 5 rm x", Ask},
		{"bash(nohup *)", "nohup -z rm x", Ask},
		{"bash(setsid *)", "setsid -f rm x", Ask},
		{"bash(wc *)", "timeout --zap 5 wc x", Ask},
		{"bash(find * -exec grep *)", "find . -exec grep -l x {} +", Allow},
		{"bash(find *)", "find src -exec rm {} +", Ask},
		{"bash(find * -exec grep *)", "find src -exec rm {} +", Ask},
		{"bash(/tmp/x/rg *)", "/tmp/x/rg pattern", Allow},
		{"bash(~/go/bin/staticcheck *)", "~/go/bin/staticcheck ./...", Allow},
		{"bash(/home/me/go/bin/staticcheck *)", "~/go/bin/staticcheck ./...", Allow},
		{"bash(rg *)", "/tmp/x/rg pattern", Ask},
		{"read(//**)", "rm $(ls)", Ask},
		{"read(**)", "cat $(ls)", Ask},
	} {
		p := policy(t, AcceptEdits, User, []string{c.rule}, nil, nil)
		if d := p.Decide(bash(strings.ReplaceAll(c.line, "⏎", "\n"))); d.Verdict != c.want {
			t.Errorf("%s with allow %s: %s (%s)", c.line, c.rule, d.Verdict, d.Reason)
		}
	}
}

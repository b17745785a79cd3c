package command

// systemPrograms returns git, the programs of machines, networks and services.
func systemPrograms() []program {
	return []program{
		{names: "git", is: tellsVersion | readsFolder | runsOthers | inert | closes | mayTakeAnything, flags: "-c --exec-path --config-env --git-dir --work-tree --exec -x --upload-pack --receive-pack --open-files-in-pager -O --ext-diff --textconv --output --template --config -u", words: 1, again: "fetch pull merge rebase cherry-pick revert add commit switch", effect: git, search: gitSearch, lists: gitLists, executes: gitExecutes, final: finalGit, loses: gitLoses, everyday: gitEveryday, copies: "mv", moves: gitMoves, checksOut: gitChecksOut},
		{names: "gh", is: downloads, words: 2, again: "pr.view pr.list pr.diff pr.checks pr.status issue.view issue.list issue.status run.view run.list repo.view release.view release.list"},
		{names: "docker", is: tellsVersion | runsOthers | containers, flags: "--privileged --entrypoint --pid --cap-add", words: 1, deeper: "run compose exec", again: "ps images logs inspect version info stats top port build pull compose.ps compose.logs compose.build compose.pull", final: finalWith("prune", "rm", "rmi", "down")},
		{names: "podman", is: runsOthers | containers, flags: "--privileged --entrypoint --pid --cap-add", words: 2, final: finalWith("prune", "rm", "rmi", "down")},
		{names: "kubectl", is: runsOthers, words: 1, deeper: "run compose exec", again: "get describe logs top explain version", final: finalWith("delete", "destroy", "uninstall")},
		{names: "helm terraform", words: 1, again: "plan validate show list status template lint version", final: finalWith("delete", "destroy", "uninstall")},
		{names: "aws gcloud", words: 2},
		{names: "apt apt-get brew rustup", words: 1},
		{names: "psql redis-cli sqlite3", is: tellsVersion},

		{names: "curl", is: tellsVersion | downloads | exact, flags: "-K --config --use-askpass -o -O --output --output-document --engine"},
		{names: "wget", is: tellsVersion | downloads | exact, flags: "-K --config --use-askpass -o -O --output --output-document --engine"},
		{names: "aria2c fetch ftp http https lynx tftp w3m", is: downloads},
		{names: "nc", is: downloads | exact},
		{names: "ncat socat", is: downloads | exact},
		{names: "ssh", is: tellsVersion | runsOthers | exact | takesKey, flags: "-o -F -S -J"},
		{names: "scp", is: downloads | exact | takesKey, flags: "-o -F -S -J"},
		{names: "sftp", is: takesKey, flags: "-o -F -S -J"},
		{names: "tcpdump", flags: "-z"},
		{names: "ss", usage: &usage{short: "HnraloempitsuxdwS046VhZz!K!D=#F=", long: "no-header numeric all listening options extended memory processes info summary tcp udp raw unix ipv4 ipv6 help version", operands: text, exact: true}},
		{names: "lsof", usage: &usage{short: "nPtwlai?p=u=c=d=s?", operands: paths, exact: true}},

		{names: "date", effect: date},
		{names: "pwd whoami id groups logname uname arch nproc tty uptime locale getconf", is: tells},
		{names: "hostname", usage: &usage{short: "aAdfiIsy!F!b", long: "alias all-fqdns all-ip-addresses domain fqdn long ip-address short nis yp help version", operands: text, most: 1, exact: true}},
		{names: "free", usage: &usage{short: "bkmghtwlvs=c=", long: "bytes kilo mega giga tera kibi mebi gibi tebi human si lohi line total wide seconds= count= help version", operands: text}},
		{names: "kill", is: exact, breaks: breaksAll},
		{names: "pkill killall", is: exact},
		{names: "killall5", breaks: breaks(endsAll)},
		{names: "systemctl", is: exact | sensitive, breaks: breaksWith(switchesOff, "poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "emergency", "rescue")},
		{names: "loginctl", breaks: breaksWith(switchesOff, "poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "emergency", "rescue")},
		{names: "service iptables", is: exact},
		{names: "launchctl passwd visudo", is: sensitive},
		{names: "mount umount", is: exact | sensitive},

		{names: "shutdown reboot halt poweroff telinit", breaks: breaks(switchesOff)},
		{names: "init", breaks: breaksWith(switchesOff, "0", "6")},
		{names: "fdisk sfdisk gdisk parted mkswap diskpart", breaks: breaks(changesDisk)},
		{names: "wipefs blkdiscard", final: always, breaks: breaks(changesDisk)},
		{names: "mkfs", is: sensitive, final: always, breaks: breaks(makesFileSystem)},
		{names: "mke2fs newfs", breaks: breaks(makesFileSystem)},
	}
}

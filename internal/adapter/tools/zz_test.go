package tools
import ("testing";"strings";"time")
func TestZZ(t *testing.T){
 big := strings.Repeat("x y\n", 300000)
 mixed := strings.Repeat("x y\r\nz\n", 150000)
 one := strings.Repeat("ab ", 400000)
 for i, c := range []struct{b,o,n string; all bool}{
  {big,"x y","q\nr",true},{big,"x y","q",false},{big,"x  y","q",false},{big,"x  y\nx y","q",true},{big,strings.Repeat("x  y\n",1000)+"no","q",false},
  {mixed,"x y","q\nr",true},{mixed,"y\nz","q\nr",true},{mixed,"y  \nz","q\nr",true},
  {one,"ab","c\nd",true},{one,"ab","c",false},{one,"a  b","c",false},{one,"ab  ab","c",false},{one,"“","c",false},{one+"\r\n\n","ab","c\nd",true},{one+"\r\n\n",`“ab`,"c\nd",true},
  {strings.Repeat("“", 300000), `"`, "x", true},{strings.Repeat("\n", 1000000), "a\n\n\n\n\n", "x", true},{strings.Repeat("aaa\n", 300000), strings.Repeat("aaa\n", 300)+"bbb", "x", true},
  {strings.Repeat("a", 1000000), strings.Repeat("a", 500000)+"b", "x", true},{strings.Repeat("a", 1000000), strings.Repeat("a", 5000), "x", true},
 } { s:=time.Now(); replace(c.b,c.o,c.n,c.all); if d:=time.Since(s); d>200*time.Millisecond { t.Log(i, d) } }
}

tofu.mesh @mesh[x = 2]
func.func @unrelated() {
  return
}

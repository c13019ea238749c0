func.func private @g(tensor<?x4xf32>) -> tensor<?x4xf32> attributes {tofu.semantics = #tofu.semantics<[b = ?], (x[b, :]) -> (y[b, :])>}
func.func @main(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  %0 = func.call @g(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "test.op"(%0) {tofu.semantics = #tofu.semantics<[m = ?, k = 4 : sum], (a[m, k]) -> (r[m])>} : (tensor<?x4xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

func.func private @g(tensor<6x4xf32>) -> tensor<6x4xf32> attributes {tofu.semantics = #tofu.semantics<[b = 6], (x[b, :]) -> (y[b, :])>}
func.func @main(%a: tensor<6x4xf32>) -> tensor<6xf32> {
  %0 = func.call @g(%a) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = "test.op"(%0) {tofu.semantics = #tofu.semantics<[m = 6, k = 4 : sum], (a[m, k]) -> (r[m])>} : (tensor<6x4xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

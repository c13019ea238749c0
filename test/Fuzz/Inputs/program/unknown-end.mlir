func.func @main(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = math.exp %a : tensor<3x4xf32>
  %1 = "test.op"(%0) {tofu.semantics = #tofu.semantics<[m = 3, k = 4 : sum], (a[m, k]) -> (r[m])>} : (tensor<3x4xf32>) -> tensor<3xf32>
}

func.func @main(%a: tensor<7x5xf32>, %b: tensor<5x6xf32>, %c: tensor<7x6xf32>) -> tensor<7x6xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<7x5xf32>, tensor<5x6xf32>) outs(%c : tensor<7x6xf32>) -> tensor<7x6xf32>
  %1 = math.tanh %0 : tensor<7x6xf32>
  return %1 : tensor<7x6xf32>
}

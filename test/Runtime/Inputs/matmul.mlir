func.func @main(%a: tensor<5x3xf32>, %b: tensor<3x7xf32>) -> tensor<5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x7xf32>) -> tensor<5x7xf32>
  %product = linalg.matmul ins(%a, %b : tensor<5x3xf32>, tensor<3x7xf32>)
      outs(%init : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %product : tensor<5x7xf32>
}

func.func @main(%a: tensor<128x64xf32>, %b: tensor<64x32xf32>) -> tensor<128x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x32xf32>) -> tensor<128x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x32xf32>)
                     outs(%init : tensor<128x32xf32>) -> tensor<128x32xf32>
  return %c : tensor<128x32xf32>
}

tofu.mesh @mesh [x = 2, y = 3]
func.func @main(%a: tensor<8x13xf32>) -> tensor<4x6xf32> {
  %z = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %a[1, 2] [3, 5] [2, 1] : tensor<8x13xf32> to tensor<3x5xf32>
  %1 = tensor.pad %0 low[0, 1] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<3x5xf32> to tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

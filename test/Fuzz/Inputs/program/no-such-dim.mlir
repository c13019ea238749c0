#at = affine_map<(i, j) -> (i + j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<?xf32>, %w: tensor<3xf32>) -> tensor<?xf32> {
  %far = arith.constant 9223372036854775807 : index
  %n = tensor.dim %x, %far : tensor<?xf32>
  %padded = tensor.empty(%n) : tensor<?xf32>
  %m = arith.addi %n, %far : index
  %e = tensor.empty(%m) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#at, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %w : tensor<?xf32>, tensor<3xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

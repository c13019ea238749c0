tofu.mesh @mesh [x = 2, y = 3]
func.func @main(%a: tensor<8x13xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x, y}]>}, %i: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x, y}]>}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"],
      tofu.semantics = #tofu.semantics<[m = 8, k = 13 : sum], (a[m, k], init r[m]) -> (r[m]), linear [{0, 1}]>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x, y}]>, tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x, y}>]}
      ins(%a : tensor<8x13xf32>) outs(%i : tensor<8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %1 = arith.addf %x, %s : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Files that tofu-plan refuses.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 json=%t.json" -o /dev/null

// A file that is no plan, or the plan of another program, is refused, and the
// error says where it belongs.

// RUN: not tofu-opt %s -tofu-plan=load=%t.missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: plan-json-errors.mlir:{{.*}}: error: tofu-plan: {{.*}}No such file or directory

// RUN: echo 'not json' > %t.text.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.text.json 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: tofu-plan: {{.*}}.text.json: [1:{{.*}}]: Invalid JSON value

// RUN: echo '[]' > %t.list.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.list.json 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: tofu-plan: {{.*}}.list.json: not a plan

// RUN: %python -c "print('[' * 1000000)" > %t.deep.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.deep.json 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: tofu-plan: {{.*}}.deep.json: nested too deeply

// RUN: sed 's/"format": 1/"format": 2/' %t.json > %t.format.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.format.json 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: tofu-plan: {{.*}}.format.json: format must be 1

// RUN: sed 's/"mesh"/"mash"/' %t.json > %t.mesh.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.mesh.json 2>&1 | FileCheck %s --check-prefix=NO-MESH
// NO-MESH: error: tofu-plan: {{.*}}.mesh.json: no mesh

// RUN: sed 's/"size": 2/"size": 0/' %t.json > %t.size.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.size.json 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: sed 's/"size": 2/"size": "two"/' %t.json > %t.size.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.size.json 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: sed 's/"name": "a0"/"nom": "a0"/' %t.json > %t.size.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.size.json 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: tofu-plan: {{.*}}.size.json: an axis needs a name and a size of at least 1

// RUN: not tofu-opt %s -tofu-plan="load=%t.json devices=3" 2>&1 | FileCheck %s --check-prefix=DEVICES
// DEVICES: error: tofu-plan: devices is 3, the mesh has 2

// RUN: sed 's/"size": 2/"size": 5000/' %t.json > %t.size.json
// RUN: not tofu-opt %s -tofu-plan=load=%t.size.json 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: 'tofu.mesh' op more than 4096 devices

// RUN: sed 's/"functions"/"fictions"/' %t.json > %t.functions.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.functions.json 2>&1 | FileCheck %s --check-prefix=NO-PLAN
// RUN: sed 's/"name": "f"/"name": "g"/' %t.json > %t.functions.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.functions.json 2>&1 | FileCheck %s --check-prefix=NO-PLAN
// NO-PLAN: plan-json-errors.mlir:[[@LINE+53]]:1: error: {{.*}}.functions.json: no plan of @f

// Without semantics it is another program.
// RUN: not tofu-opt %s -tofu-plan=load=%t.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/f32/f64/g' %s | not tofu-opt -tofu-annotate -tofu-plan=load=%t.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/math.exp/math.log/g' %s | not tofu-opt -tofu-annotate -tofu-plan=load=%t.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/"hash"/"hush"/' %t.json > %t.hash.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.hash.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: {{.*}}.json: the plan is of another program

// RUN: sed 's/"arguments"/"parameters"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// ARGUMENTS: error: {{.*}}.x.json: arguments: 0 layouts, the function has 1

// RUN: sed 's/"results"/"parameters"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: error: {{.*}}.x.json: results: 0 layouts, the function has 1

// RUN: sed 's/"operators"/"parameters"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=OPERATORS
// OPERATORS: error: {{.*}}.x.json: operators: 0, the function has 1

// RUN: sed 's/"operators": \[/"operators": [1], "x": [/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=OBJECT
// OBJECT: error: {{.*}}.x.json: operator 0 is no object

// RUN: sed 's/"layouts"/"layuots"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// LAYOUTS: error: {{.*}}.x.json: operator 0: other layouts than results

// RUN: sed 's/"#tofu.strategy<.*>"/"#tofu.strategy<@mesh, [{a0}, {}]>"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: sed 's/"#tofu.strategy<.*>"/"#tofu.strategy<@mesh, "/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: sed 's/"#tofu.strategy<.*>"/"#tofu.layout<@mesh, [{a0}]>"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: sed 's/"#tofu.strategy<.*>"/17/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=STRATEGY
// STRATEGY: error: {{.*}}.x.json: operator 0 has no strategy of its dims

// RUN: %python -c "print(open('%t.json').read().replace('#tofu.layout<@mesh, [{a0}]>', '[' * 1000000))" > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: error: {{.*}}.x.json: arguments 0 has no layout

// What the verifiers of the attributes refuse.
// RUN: sed 's/{a0}/{a1}/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'func.func' op argument 0: unknown axis: a1

// RUN: sed 's/"#tofu.layout<@mesh, \[{a0}\]>"/"#tofu.layout<@mesh, []>"/' %t.json > %t.x.json
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan=load=%t.x.json 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: 'func.func' op argument 0: layout has 0 dims, tensor has 1

func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

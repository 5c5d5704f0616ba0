//! The machine as text.

use crate::fixture::*;

#[test]
fn a_small_machine_is_drawn_core_by_core() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .mask("0-3")
        .write("proc/self/cgroup", "0::/\n")
        .write(
            "proc/self/mountinfo",
            "1 2 3 / /cg rw - cgroup2 cgroup2 rw\n",
        )
        .write("cg/cpu.max", "250000 100000\n");
    assert_eq!(
        fixture.topology().to_string(),
        "\
8 CPUs, 4 cores, 1 core group, 1 NUMA node, 1 package
usable: 0-3 (4 of 8); CPU quota: 2.50 CPUs; default threads: 2
package 0
└─ NUMA node 0
   └─ core group 0 (L3, 8 MiB)
      [0 (4)] [1 (5)] [2 (6)] [3 (7)]
"
    );
}

#[test]
fn long_groups_wrap() {
    let picture = Fixture::new(TWO_SOCKETS).topology().to_string();
    assert_eq!(
        picture,
        "\
48 CPUs, 48 cores, 2 core groups, 2 NUMA nodes, 2 packages
usable: all; CPU quota: none; default threads: 48
package 0
└─ NUMA node 0
   └─ core group 0 (L3, 8 MiB)
      [0] [1] [2] [3] [4] [5] [6] [7] [8] [9] [10] [11] [12] [13] [14] [15]
      [16] [17] [18] [19] [20] [21] [22] [23]
package 1
└─ NUMA node 1
   └─ core group 1 (L3, 8 MiB)
      [24] [25] [26] [27] [28] [29] [30] [31] [32] [33] [34] [35] [36] [37]
      [38] [39] [40] [41] [42] [43] [44] [45] [46] [47]
"
    );
}

#[test]
fn a_large_machine_is_counted() {
    let fixture = Fixture::new(Shape {
        packages: 2,
        groups_per_package: 2,
        cores_per_group: 16,
        threads_per_core: 2,
    });
    fixture.mask("0-95,100");
    assert_eq!(
        fixture.topology().to_string(),
        "\
128 CPUs, 64 cores, 4 core groups, 2 NUMA nodes, 2 packages
usable: 0-95,100 (97 of 128); CPU quota: none; default threads: 97
package 0
└─ NUMA node 0
   ├─ core group 0 (L3, 8 MiB): 16 cores, 32 CPUs: 0-15,64-79
   └─ core group 1 (L3, 8 MiB): 16 cores, 32 CPUs: 16-31,80-95
package 1
└─ NUMA node 1
   ├─ core group 2 (L3, 8 MiB): 16 cores, 32 CPUs: 32-47,96-111 (not usable: 96-99,101-111)
   └─ core group 3 (L3, 8 MiB): 16 cores, 32 CPUs: 48-63,112-127 (not usable: 112-127)
"
    );
}

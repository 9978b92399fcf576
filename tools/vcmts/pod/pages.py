# SPDX-License-Identifier: BSD-3-Clause
"""Checks the huge pages of a container: those that are free, within the limit of its cgroup."""

from vcmts.pod.variables import PodError
from vcmts.system.files import Files, number

MB = 1 << 20
POOLS = "sys/kernel/mm/hugepages"
SIZES = {2: "2MB", 1024: "1GB"}  # MB of a page, as cgroups name it
RESOURCES = {2: "hugepages-2Mi", 1024: "hugepages-1Gi"}
NO_LIMIT = 1 << 60


def cgroup_limit(files: Files, size: str) -> int:
    """Bytes in huge pages of a size that the container's control group may still use."""
    places = (
        (f"sys/fs/cgroup/hugetlb.{size}.max", f"sys/fs/cgroup/hugetlb.{size}.current"),
        (
            f"sys/fs/cgroup/hugetlb/hugetlb.{size}.limit_in_bytes",
            f"sys/fs/cgroup/hugetlb/hugetlb.{size}.usage_in_bytes",
        ),
    )
    for most, used in places:
        found = number(files.text(most))
        if isinstance(found, int):
            return max(found - files.count(used), 0)
    return NO_LIMIT


def free_mb(files: Files, page_mb: int) -> int:
    pool = files.count(f"{POOLS}/hugepages-{page_mb * 1024}kB/free_hugepages") * page_mb
    return min(pool, cgroup_limit(files, SIZES[page_mb]) // MB)


def check(files: Files, needed_mb: int) -> None:
    """Raises PodError if vcmtsd would not get `needed_mb` MB in huge pages of one size."""
    free = {page: free_mb(files, page) for page in SIZES}
    if any(mb >= max(needed_mb, page) for page, mb in free.items()):
        return
    found = " and ".join(f"{mb} MB in {RESOURCES[page]}" for page, mb in free.items())
    raise PodError(
        f"huge pages: found {found}, allowed: {needed_mb} MB or more of one size, in the pod's "
        "limits and free on the node; or --huge-pages auto"
    )

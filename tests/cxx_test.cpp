// The public headers must compile, and the library must link, from C++.
#include <evenflow.h>
#include <evenflow_binding.h>
#if __has_include(<ef_ops.h>)
#include <ef_ops.h>
#endif

#include <cstdio>

int main() {
    std::puts("1 passed, 0 failed, 0 skipped");
    return 0;
}

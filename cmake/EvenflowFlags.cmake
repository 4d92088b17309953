# Compiler, flags and the libraries we stand on; everything hangs on two interface targets:
# ef_flags (how we compile) and ef_deps (what we link).
include(CheckLanguage)

option(EF_WERROR "Treat warnings as errors" ON)
set(EF_SANITIZE "" CACHE STRING "address (with undefined behaviour and leaks) or thread")
set_property(CACHE EF_SANITIZE PROPERTY STRINGS "" address thread)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(EF_CCACHE ccache)
mark_as_advanced(EF_CCACHE)
if(EF_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${EF_CCACHE})
endif()

# x86-64-v3 is AVX2 with FMA; an older machine gets what it can run.
set(march "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(march x86-64-v2)
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
    if(cpu_flags MATCHES " avx2( |$)" AND cpu_flags MATCHES " fma( |$)")
      set(march x86-64-v3)
    endif()
  endif()
endif()
# A package runs on any machine: it is built for an old level, and its extension for newer ones too, of which the
# package loads the best that the processor has (python/evenflow/_level.py).
set(levels "")
if(SKBUILD AND march)
  set(march x86-64-v2)
  set(levels x86-64-v3)
endif()
set(EF_MARCH "${march}" CACHE STRING "Value of -march; empty leaves the compiler's own default")
set(EF_LEVELS "${levels}" CACHE STRING "Further values of -march for which the Python extension is built")

set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
set(EF_FAST -O3 -fno-trapping-math -funroll-loops) # for rooms and programs that hold inner loops
if(EF_SANITIZE)
  set(CMAKE_C_FLAGS_RELEASE "-O1 -g") # asserts stay on
  set(EF_FAST "")
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(EF_FAST "")
endif()

add_library(ef_flags INTERFACE)
target_include_directories(ef_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(ef_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)
target_compile_options(ef_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-std=c11> -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${EF_WERROR}>:-Werror>
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= # file:line in messages reads the same on every machine
  -fno-math-errno -ffp-contract=off -fopenmp -fvisibility=default
  -fPIC -fno-semantic-interposition # calls inside the library bind to the library
  -ftls-model=initial-exec)         # thread-locals are few and small, and read on every eager call
if(EF_MARCH)
  target_compile_options(ef_flags INTERFACE -march=${EF_MARCH})
endif()
# For blocks of known size GCC prefers `rep stos` and `rep movs`, which take some thirty cycles to start: too long for a
# tensor (128 bytes), of which every call clears several.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND march)
  foreach(block memset memcpy)
    target_compile_options(ef_flags INTERFACE
      $<$<COMPILE_LANGUAGE:C>:-m${block}-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
  endforeach()
endif()
target_link_options(ef_flags INTERFACE -fopenmp)
if(EF_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(EF_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
elseif(EF_SANITIZE)
  message(FATAL_ERROR "EF_SANITIZE is '${EF_SANITIZE}'; it must be address, thread or empty")
endif()
target_compile_options(ef_flags INTERFACE ${sanitize})
target_link_options(ef_flags INTERFACE ${sanitize})

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
add_library(ef_deps INTERFACE)
foreach(lib dnnl openblas lapacke pcre2-8 z jpeg png gif)
  find_library(EF_LIB_${lib} ${lib})
  if(NOT EF_LIB_${lib})
    message(FATAL_ERROR "lib${lib} is missing: run scripts/setup")
  endif()
  target_link_libraries(ef_deps INTERFACE ${EF_LIB_${lib}})
endforeach()
find_library(EF_LIB_mvec mvec) # glibc's vector math; absent on some architectures
if(EF_LIB_mvec)
  target_link_libraries(ef_deps INTERFACE mvec)
endif()
target_link_libraries(ef_deps INTERFACE m Threads::Threads)

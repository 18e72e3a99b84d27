// Makes PyTorch's bf16 usable on virtual machines that offer AMX but hide its description.
//
// Some hypervisors let programs run AMX instructions and advertise amx_bf16, yet answer CPUID leaves 0x1D and 0x1E (the
// geometry of the tiles) with zeros. oneDNN believes them, configures no tiles, and dies of an illegal instruction.
// This library asks the kernel to fault CPUID in this process only, and answers those leaves with the numbers of every
// AMX processor so far. Everything else is answered by the processor itself.
//
//     cc -O1 -shared -fPIC amx_cpuid.c -o amx_cpuid.so
//     PGDLM_PRELOAD=$PWD/amx_cpuid.so LD_PRELOAD=$PWD/amx_cpuid.so python train_mdlm.py ...

#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { kSetCpuid = 0x1012, kFault = 0, kAllow = 1 };  // arch_prctl(2)

static void answer_cpuid(int signal_number, siginfo_t *info, void *context) {
  (void)info;
  greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *code = (const unsigned char *)r[REG_RIP];
  if (code[0] != 0x0f || code[1] != 0xa2) {  // a real fault: die of it as usual
    signal(signal_number, SIG_DFL);
    return;
  }
  unsigned leaf = r[REG_RAX], sub = r[REG_RCX], a, b, c, d;
  syscall(SYS_arch_prctl, kSetCpuid, kAllow);
  __cpuid_count(leaf, sub, a, b, c, d);
  syscall(SYS_arch_prctl, kSetCpuid, kFault);
  if (leaf == 0 && a < 0x1e) a = 0x1e;
  if (leaf == 0x1d && sub == 0) a = 1;                                             // one palette
  if (leaf == 0x1d && sub == 1) { a = 1024 << 16 | 8192; b = 8 << 16 | 64; c = 16; }  // 8 tiles, 16 rows of 64 bytes
  if (leaf == 0x1e && sub == 0) b = 64 << 8 | 16;                                  // multiply up to 16 x 64
  r[REG_RAX] = a;
  r[REG_RBX] = b;
  r[REG_RCX] = c;
  r[REG_RDX] = d;
  r[REG_RIP] += 2;
}

__attribute__((constructor)) static void install(void) {
  unsetenv("LD_PRELOAD");  // child processes, such as compilers, have no need of it
  struct sigaction action = {0};
  action.sa_sigaction = answer_cpuid;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, 0);
  syscall(SYS_arch_prctl, kSetCpuid, kFault);
}

/* The functions of program/os/, by Windows. Names go to the system as they are. The program's manifest says that they
 * are UTF-8 (slabcast.manifest). That holds for this file, for C's own functions and for the libraries that are given
 * names. Functions that Windows does not have do nothing. A child may write files. A call of TerminateProcess from
 * elsewhere leaves the program no time to remove its own. */
#define WIN32_LEAN_AND_MEAN
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#include <windows.h>

/* After that. */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "program/os/child.h"
#include "program/os/file.h"
#include "program/os/interrupt.h"

#ifdef __MINGW32__
/* Windows' shells leave it to programs to find the files of a pattern, such as *.npy: C's start-up code does. */
int _dowildcard = -1;
#endif

/* ---- failures ---- */

static int errno_of(DWORD code) {
  static const struct {
    DWORD code;
    int number;
  } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
               {ERROR_PATH_NOT_FOUND, ENOENT},
               {ERROR_INVALID_NAME, ENOENT},
               {ERROR_BAD_PATHNAME, ENOENT},
               {ERROR_BAD_NETPATH, ENOENT},
               {ERROR_BAD_NET_NAME, ENOENT},
               {ERROR_INVALID_DRIVE, ENOENT},
               {ERROR_ACCESS_DENIED, EACCES},
               {ERROR_SHARING_VIOLATION, EACCES},
               {ERROR_LOCK_VIOLATION, EACCES},
               {ERROR_WRITE_PROTECT, EROFS},
               {ERROR_DIRECTORY, ENOTDIR},
               {ERROR_FILE_EXISTS, EEXIST},
               {ERROR_ALREADY_EXISTS, EEXIST},
               {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
               {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
               {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
               {ERROR_OUTOFMEMORY, ENOMEM},
               {ERROR_DISK_FULL, ENOSPC},
               {ERROR_HANDLE_DISK_FULL, ENOSPC},
               {ERROR_FILE_TOO_LARGE, EFBIG},
               {ERROR_BROKEN_PIPE, EPIPE},
               {ERROR_NO_DATA, EPIPE},
               {ERROR_PIPE_NOT_CONNECTED, EPIPE},
               {ERROR_INVALID_HANDLE, EBADF},
               {ERROR_INVALID_PARAMETER, EINVAL}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].code == code) return known[i].number;
  return EIO;
}

static int fail(void) {
  errno = errno_of(GetLastError());
  return -1;
}

/* ---- handles ---- */

/* Others may go on with the file, rename and remove it, as elsewhere. */
enum { SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static HANDLE handle_of(int file) { return (HANDLE)_get_osfhandle(file); }

/* The number of a file that was opened; -1 and errno: it was not. */
static int file_of(HANDLE handle, int flags) {
  if (handle == INVALID_HANDLE_VALUE) return fail();
  const int file = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
  if (file < 0) CloseHandle(handle);
  return file;
}

/* The same as a stream of stdio. */
static FILE *stream_of(int file, const char *mode) {
  FILE *stream = file >= 0 ? _fdopen(file, mode) : NULL;
  if (!stream && file >= 0) _close(file);
  return stream;
}

/* The file's whole path, without links, in memory of the caller's; NULL and errno: it has none. */
static char *path_of(HANDLE handle) {
  char path[OS_PATH_MAX];
  const DWORD length = GetFinalPathNameByHandleA(handle, path, sizeof path, FILE_NAME_NORMALIZED);
  if (length == 0 || length >= sizeof path) {
    fail();
    return NULL;
  }
  const int has_drive = !strncmp(path, "\\\\?\\", 4) && path[4] != '\0' && path[5] == ':';
  return _strdup(has_drive ? path + 4 : path);
}

/* ---- facts about files ---- */

static os_facts facts_of(HANDLE handle) {
  BY_HANDLE_FILE_INFORMATION found;
  if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &found))
    return (os_facts){.kind = OS_OTHER};
  if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) return (os_facts){.kind = OS_FOLDER};
  return (os_facts){OS_FILE, (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow, found.dwVolumeSerialNumber,
                    (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow};
}

/* A process that opens a pipe takes it from the one it is for, so these names are not looked up. */
static bool is_device(const char *path) {
  return (path[0] == '\\' || path[0] == '/') && path[1] == path[0] && path[2] == '.' && path[3] == path[0];
}

/* Folders are opened only by those who say that they know them. */
static HANDLE open_to_ask(const char *path, DWORD rights) {
  return CreateFileA(path, rights, SHARED, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

int os_facts_of(const char *path, os_facts *facts) {
  *facts = (os_facts){.kind = OS_OTHER};
  if (is_device(path)) return 0;
  const HANDLE file = open_to_ask(path, FILE_READ_ATTRIBUTES);
  if (file == INVALID_HANDLE_VALUE) return fail();
  *facts = facts_of(file);
  CloseHandle(file);
  return 0;
}

int os_facts_of_file(int file, os_facts *facts) {
  *facts = facts_of(handle_of(file));
  return 0;
}

/* Files that a cloud keeps, and others, look like links but for the tag. */
bool os_is_link(const char *path) {
  WIN32_FIND_DATAA found;
  if (is_device(path)) return false;
  const HANDLE search = FindFirstFileA(path, &found);
  if (search == INVALID_HANDLE_VALUE) return false;
  FindClose(search);
  return (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) && found.dwReserved0 == IO_REPARSE_TAG_SYMLINK;
}

char *os_link_target(const char *path) {
  const HANDLE file = os_is_link(path) ? open_to_ask(path, FILE_READ_ATTRIBUTES) : INVALID_HANDLE_VALUE;
  if (file == INVALID_HANDLE_VALUE) return NULL;
  char *target = path_of(file);
  CloseHandle(file);
  return target;
}

const char *os_name_in(const char *path) {
  const char *name = path;
  for (; *path; path++)
    if (strchr("/\\:", *path)) name = path + 1;
  return name;
}

bool os_same_name(const char *a, const char *b) { return _stricmp(a, b) == 0; }

static int may(const char *path, DWORD rights) {
  const HANDLE file = open_to_ask(path, rights);
  if (file == INVALID_HANDLE_VALUE) return fail();
  CloseHandle(file);
  return 0;
}

int os_may_read(const char *path) { return may(path, GENERIC_READ); }

int os_may_write_in(const char *folder) {
  os_facts found;
  if (os_facts_of(folder, &found) != 0) return -1;
  if (found.kind == OS_FOLDER) return may(folder, FILE_ADD_FILE);
  errno = ENOTDIR;
  return -1;
}

/* ---- the program's streams ---- */

static UINT code_page_before; /* of the console, which keeps it when the program has ended; 0: as it was */

static void restore_console(void) {
  if (code_page_before != 0) SetConsoleOutputCP(code_page_before);
}

void os_begin_streams(void) {
  for (int stream = OS_STDIN; stream <= OS_STDERR; stream++) {
    DWORD mode;
    _setmode(stream, _O_BINARY);
    if (stream != OS_STDIN && GetConsoleMode(handle_of(stream), &mode))
      SetConsoleMode(handle_of(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
  setvbuf(stderr, NULL, _IOFBF, BUFSIZ); /* else each letter is a system call; exit() writes it too */
  const UINT before = GetConsoleOutputCP();
  if (before == CP_UTF8 || !SetConsoleOutputCP(CP_UTF8)) return;
  code_page_before = before;
  atexit(restore_console);
}

/* C's isatty() takes every device for one. */
bool os_is_terminal(os_stream stream) {
  DWORD mode;
  return GetConsoleMode(handle_of((int)stream), &mode) != 0;
}

int os_terminal_columns(os_stream stream) {
  CONSOLE_SCREEN_BUFFER_INFO window;
  if (!GetConsoleScreenBufferInfo(handle_of((int)stream), &window)) return 0;
  return window.srWindow.Right - window.srWindow.Left + 1;
}

bool os_is_pipe(os_stream stream) { return GetFileType(handle_of((int)stream)) == FILE_TYPE_PIPE; }

int os_stream_file(os_stream stream) { return _dup((int)stream); }

void os_say(const char *text) {
  DWORD put;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)strlen(text), &put, NULL);
}

void os_hold_stream(FILE *stream) { _lock_file(stream); }

void os_let_go_stream(FILE *stream) {
  fflush(stream);
  _unlock_file(stream);
}

/* ---- opening and closing ---- */

/* A folder is opened too, so that the caller can say that it is one. */
int os_open_to_read(const char *path) { return file_of(open_to_ask(path, GENERIC_READ), _O_RDONLY); }
FILE *os_open_stream(const char *path) { return stream_of(os_open_to_read(path), "rb"); }

int os_open_to_write(const char *path) {
  return file_of(CreateFileA(path, GENERIC_WRITE, SHARED, NULL, OPEN_EXISTING, 0, NULL), _O_WRONLY);
}

int os_open_to_update(const char *path) {
  return file_of(CreateFileA(path, GENERIC_READ | GENERIC_WRITE, SHARED, NULL, OPEN_ALWAYS, 0, NULL), _O_RDWR);
}

/* C's tmpfile() wants to write in the drive's root. The name has no ending, by which a mesh's format would be taken. */
FILE *os_open_temporary(void) {
  static LONG count;
  char folder[MAX_PATH + 1], path[OS_PATH_MAX];
  HANDLE file;
  if (GetTempPathA(sizeof folder, folder) == 0) return fail(), NULL;
  do {
    snprintf(path, sizeof path, "%sslabcast-%lx-%lx", folder, GetCurrentProcessId(), InterlockedIncrement(&count));
    file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE | DELETE, SHARED, NULL, CREATE_NEW,
                       FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
  } while (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS);
  return stream_of(file_of(file, _O_RDWR), "w+b");
}

int os_close(int file) { return _close(file); }

/* ---- a thread that may be interrupted ---- */

static _Thread_local bool is_reader;
static volatile LONG reader_is_to_end;

void os_reader_begin(void) { is_reader = true; }

/* It may be about to wait: so its waits are cancelled again until it has ended. */
void os_reader_interrupt(os_thread reader) {
  InterlockedExchange(&reader_is_to_end, 1);
  while (WaitForSingleObject(reader.handle, 1) == WAIT_TIMEOUT) CancelSynchronousIo(reader.handle);
  InterlockedExchange(&reader_is_to_end, 0);
}

static void end_reader(void) {
  if (is_reader && reader_is_to_end) _endthreadex(0);
}

/* ---- data ---- */

static DWORD piece_of(size_t size) { return size < ((size_t)1 << 30) ? (DWORD)size : (DWORD)1 << 30; }

int64_t os_read(int file, void *bytes, size_t size) {
  const HANDLE from = handle_of(file);
  DWORD got;
  for (;;) {
    end_reader();
    if (ReadFile(from, bytes, piece_of(size), &got, NULL)) {
      /* A write of no byte does not close a pipe. */
      if (got > 0 || GetFileType(from) != FILE_TYPE_PIPE) return got;
    } else if (GetLastError() == ERROR_BROKEN_PIPE) {
      return 0;
    } else if (GetLastError() != ERROR_OPERATION_ABORTED) {
      return fail();
    }
  }
}

int64_t os_write(int file, const void *bytes, size_t size) {
  DWORD put;
  return WriteFile(handle_of(file), bytes, piece_of(size), &put, NULL) ? (int64_t)put : fail();
}

/* A place, as ReadFile and WriteFile take it. */
static OVERLAPPED at_place(uint64_t place) {
  return (OVERLAPPED){.Offset = (DWORD)place, .OffsetHigh = (DWORD)(place >> 32)};
}

int os_read_at(int file, uint64_t place, void *bytes, size_t size) {
  for (char *next = bytes; size > 0;) {
    OVERLAPPED at = at_place(place);
    DWORD got = 0;
    if (!ReadFile(handle_of(file), next, piece_of(size), &got, &at) && GetLastError() != ERROR_HANDLE_EOF)
      return fail();
    if (got == 0) errno = EIO;
    if (got == 0) return -1;
    next += got;
    place += got;
    size -= got;
  }
  return 0;
}

int os_write_at(int file, uint64_t place, const void *bytes, size_t size) {
  for (const char *next = bytes; size > 0;) {
    OVERLAPPED at = at_place(place);
    DWORD put;
    if (!WriteFile(handle_of(file), next, piece_of(size), &put, &at)) return fail();
    next += put;
    place += put;
    size -= put;
  }
  return 0;
}

/* Pipes claim to have places. */
static int64_t move(int file, uint64_t by) {
  const LARGE_INTEGER distance = {.QuadPart = (LONGLONG)by};
  LARGE_INTEGER place;
  if (GetFileType(handle_of(file)) != FILE_TYPE_DISK) {
    errno = ESPIPE;
    return -1;
  }
  return SetFilePointerEx(handle_of(file), distance, &place, FILE_CURRENT) ? place.QuadPart : fail();
}

int64_t os_place(int file) { return move(file, 0); }
int os_skip(int file, uint64_t size) { return move(file, size) < 0 ? -1 : 0; }
int os_stream_skip(FILE *stream, uint64_t size) { return _fseeki64(stream, (int64_t)size, SEEK_CUR); }

int os_empty(int file) {
  FILE_END_OF_FILE_INFO end = {{.QuadPart = 0}};
  return SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) ? 0 : fail();
}

int os_flush(int file) { return FlushFileBuffers(handle_of(file)) ? 0 : fail(); }

/* ---- hints to the system's cache of files: none ---- */

void os_cache_written(int file, uint64_t size, uint64_t *sent) {
  (void)file;
  *sent = size;
}

void os_cache_forget(int file, size_t size) { (void)file, (void)size; }

/* ---- locks and names ---- */

/* Others cannot read a locked range, so it is a byte that no file has. */
static OVERLAPPED locked_byte(void) { return at_place((uint64_t)1 << 62); }

int os_lock(int file) {
  OVERLAPPED at = locked_byte();
  const DWORD at_once = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  if (LockFileEx(handle_of(file), at_once, 0, 1, 0, &at)) return 0;
  if (GetLastError() != ERROR_LOCK_VIOLATION && GetLastError() != ERROR_IO_PENDING) return 0;
  errno = EACCES;
  return -1;
}

int os_unlock(int file) {
  OVERLAPPED at = locked_byte();
  return UnlockFileEx(handle_of(file), 0, 1, 0, &at) || GetLastError() == ERROR_NOT_LOCKED ? 0 : fail();
}

int os_rename(const char *from, const char *to) {
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : fail();
}

int os_remove(const char *path) { return DeleteFileA(path) ? 0 : fail(); }

/* ---- interruptions and broken pipes ---- */

/* A handler has no argument for it, so it is global. */
static void (*interrupted)(void);

static void end_program(UINT code) {
  restore_console();
  TerminateProcess(GetCurrentProcess(), code);
}

/* Runs in a thread of the system's, at Ctrl-C and Ctrl-Break, and as the console is closed or the user logs off. */
static BOOL WINAPI on_event(DWORD event) {
  (void)event;
  interrupted();
  end_program((UINT)STATUS_CONTROL_C_EXIT);
  return TRUE;
}

/* Where Ctrl-C was to be ignored at the start, no handler is called for it. */
void os_on_interruption(void (*act)(void)) {
  interrupted = act;
  SetConsoleCtrlHandler(on_event, TRUE);
}

/* Both fail always. */
void os_fail_beyond_limits(void) {}
void os_fail_without_readers(void) {}

/* C's own functions make EINVAL of some of these codes. */
bool os_lacks_reader(void) { return errno == EPIPE || (errno == EINVAL && errno_of(_doserrno) == EPIPE); }
void os_end_without_reader(void) { end_program(ERROR_BROKEN_PIPE); }

/* ---- a child ---- */

/* How C's start-up code gets the files that a process inherits: their number, flags of each, their handles. */
enum { FILES = OS_TO_PARENT + 1, IS_OPEN = 0x01, IS_PIPE = 0x08, IS_DEVICE = 0x40 };
enum { INHERITED_BYTES = sizeof(int) + FILES + FILES * sizeof(HANDLE) };

static void write_inherited(BYTE bytes[INHERITED_BYTES], HANDLE nowhere, HANDLE to_parent) {
  const int count = FILES;
  memcpy(bytes, &count, sizeof count);
  for (size_t i = 0; i < FILES; i++) {
    const bool is_pipe = i == OS_TO_PARENT;
    const HANDLE handle = is_pipe ? to_parent : nowhere;
    bytes[sizeof count + i] = IS_OPEN | (is_pipe ? IS_PIPE : IS_DEVICE);
    memcpy(bytes + sizeof count + FILES + i * sizeof handle, &handle, sizeof handle);
  }
}

const char *os_own_path(char *path) {
  if (GetModuleFileNameA(NULL, path, OS_PATH_MAX) < OS_PATH_MAX) return path;
  errno = ENAMETOOLONG;
  return NULL;
}

/* Starts a process that inherits these two handles and no other. */
static bool create(os_child *child, char *line, HANDLE nowhere, HANDLE to_parent) {
  BYTE inherited[INHERITED_BYTES];
  char path[OS_PATH_MAX];
  HANDLE handles[] = {nowhere, to_parent};
  union {
    char bytes[256]; /* one attribute takes 48 */
    void *alignment;
  } attributes;
  SIZE_T size = sizeof attributes;
  LPPROC_THREAD_ATTRIBUTE_LIST list = (LPPROC_THREAD_ATTRIBUTE_LIST)(void *)&attributes;
  STARTUPINFOEXA start = {.StartupInfo = {.cb = sizeof start,
                                          .dwFlags = STARTF_USESTDHANDLES,
                                          .cbReserved2 = INHERITED_BYTES,
                                          .lpReserved2 = inherited,
                                          .hStdInput = nowhere,
                                          .hStdOutput = nowhere,
                                          .hStdError = nowhere},
                          .lpAttributeList = list};
  PROCESS_INFORMATION process;
  write_inherited(inherited, nowhere, to_parent);
  if (!os_own_path(path)) return SetLastError(ERROR_FILENAME_EXCED_RANGE), false;
  if (!InitializeProcThreadAttributeList(list, 1, 0, &size)) return false;
  bool made =
      UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles, sizeof handles, NULL, NULL);
  if (made)
    made = CreateProcessA(path, line, NULL, NULL, TRUE, EXTENDED_STARTUPINFO_PRESENT, NULL, NULL, &start.StartupInfo,
                          &process);
  DeleteProcThreadAttributeList(list);
  if (!made) return false;
  CloseHandle(process.hThread);
  child->process = (intptr_t)process.hProcess;
  return true;
}

/* No file has a quotation mark in its name, nor a backslash at its end. */
static char *command_line(const char *first, const char *second) {
  const size_t size = strlen(first) + strlen(second) + sizeof "slabcast  \"\"";
  char *line = malloc(size);
  if (line) snprintf(line, size, "slabcast %s \"%s\"", first, second);
  return line;
}

/* A pipe whose end for a child can be inherited. */
static bool make_pipe(os_child *child, HANDLE *to) {
  HANDLE from;
  if (!CreatePipe(&from, to, NULL, 0)) return false;
  child->from = file_of(from, _O_RDONLY);
  if (child->from >= 0 && SetHandleInformation(*to, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT)) return true;
  if (child->from >= 0) _close(child->from);
  CloseHandle(*to);
  return false;
}

/* The child opens its input by its path. */
int os_child_start(os_child *child, const char *first, const char *second, FILE *input) {
  SECURITY_ATTRIBUTES is_inherited = {.nLength = sizeof is_inherited, .bInheritHandle = TRUE};
  HANDLE to;
  int failed = 0;
  (void)input;
  char *line = command_line(first, second);
  if (!line) return ENOMEM;
  const HANDLE nowhere =
      CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE, SHARED, &is_inherited, OPEN_EXISTING, 0, NULL);
  if (nowhere == INVALID_HANDLE_VALUE || !make_pipe(child, &to)) {
    failed = errno_of(GetLastError());
  } else {
    if (!create(child, line, nowhere, to)) failed = errno_of(GetLastError());
    CloseHandle(to);
    if (failed) _close(child->from);
  }
  if (nowhere != INVALID_HANDLE_VALUE) CloseHandle(nowhere);
  free(line);
  return failed;
}

char *os_child_input(FILE *input) { return path_of(handle_of(_fileno(input))); }

/* The codes by which a child ends itself at a limit: those that the system has for the two. */
enum { TIME_IS_UP = ERROR_NOT_ENOUGH_QUOTA, CLOCK_IS_UP = ERROR_TIMEOUT };

static unsigned __stdcall watch_time(void *of) {
  const os_limits limits = *(os_limits *)of;
  const double end = seconds_now() + limits.seconds;
  free(of);
  while (seconds_now() < end) {
    if (seconds_of_process() >= limits.processor_seconds) end_program(TIME_IS_UP);
    os_sleep(0.05);
  }
  end_program(CLOCK_IS_UP);
  return 0;
}

static void limit_memory(uint64_t bytes) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY,
                                                 .ProcessMemoryLimit = bytes < SIZE_MAX ? (SIZE_T)bytes : SIZE_MAX};
  const HANDLE job = CreateJobObjectA(NULL, NULL);
  if (SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits))
    AssignProcessToJobObject(job, GetCurrentProcess());
}

void os_child_limit(const os_limits *limits, bool memory) {
  os_limits *of = malloc(sizeof *of);
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX); /* else it would wait for somebody to look at it */
  if (of) *of = *limits;
  if (of && _beginthreadex(NULL, 0, watch_time, of, 0, NULL) == 0) free(of);
  if (memory) limit_memory(limits->memory_bytes);
}

static os_end end_of(DWORD code) {
  os_end end = {.how = OS_ENDED, .code = (int)code};
  if (code == TIME_IS_UP) end.how = OS_ENDED_BY_TIME;
  if (code == CLOCK_IS_UP) end.how = OS_ENDED_BY_CLOCK;
  if (code >= 0xC0000000) end.how = OS_ENDED_BY_A_CRASH; /* its exception */
  snprintf(end.by, sizeof end.by, code >= 0xC0000000 ? "exception 0x%lX" : "code %lu", code);
  return end;
}

os_end os_child_end(os_child *child) {
  const HANDLE process = (HANDLE)(intptr_t)child->process;
  DWORD code = (DWORD)-1;
  _close(child->from);
  WaitForSingleObject(process, INFINITE);
  GetExitCodeProcess(process, &code);
  CloseHandle(process);
  return end_of(code);
}

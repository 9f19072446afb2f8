# Has a program write its manual and completions, to where they are installed below share/:
#   cmake -DNAME=slabcast -DPROGRAM=COMMAND -DOUTPUT=FOLDER -P manual.cmake
file(REMOVE_RECURSE ${OUTPUT})

# slab_write(PATH ARGUMENT...): writes the program's output for these arguments.
function(slab_write path)
  get_filename_component(folder ${OUTPUT}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${OUTPUT}/${path} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

slab_write(man/man1/${NAME}.1 --help=man)
slab_write(bash-completion/completions/${NAME} --help=bash)
slab_write(zsh/site-functions/_${NAME} --help=zsh)
slab_write(fish/vendor_completions.d/${NAME}.fish --help=fish)

# And the pages of its commands, to which its own refers.
file(READ ${OUTPUT}/man/man1/${NAME}.1 page)
string(REGEX MATCHALL "${NAME}\\\\-[a-z]+\\\\fR\\(1\\)" references "${page}")
foreach(reference IN LISTS references)
  string(REGEX MATCH "-([a-z]+)\\\\" reference "${reference}")
  slab_write(man/man1/${NAME}-${CMAKE_MATCH_1}.1 ${CMAKE_MATCH_1} --help=man)
endforeach()
